"""Small tensors: NumPy's functions in place of kernels, where the results are as exact."""

SMALL = 1024
"""The number of elements below which NumPy reduces views and reads by index: calling a kernel takes
longer."""
