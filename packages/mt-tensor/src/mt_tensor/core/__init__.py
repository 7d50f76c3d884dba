"""The core of stage 2: tensors, their operations and gradients, and the two built-in backends.

The README lists these files in reading order. They import nothing from the rest of the package, and
train a network when every other file of the package is deleted.
"""
