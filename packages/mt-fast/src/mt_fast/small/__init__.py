"""Small tensors: NumPy's functions in place of kernels, where the bits are the same."""
