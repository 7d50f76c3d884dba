"""The core of stage 5: everything needed to train a convolutional network on images.

The README lists these files in reading order; each imports only files before it.
"""
