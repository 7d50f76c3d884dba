"""Convolution and pooling: kernels that compute the positions of window elements."""
