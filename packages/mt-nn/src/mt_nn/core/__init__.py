"""The lesson of this stage: what a convolutional network needs to learn from images.

The README states the order in which its files are read; each imports only files above it.
"""
