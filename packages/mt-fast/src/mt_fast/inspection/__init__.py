"""The source of kernels, for reading."""
