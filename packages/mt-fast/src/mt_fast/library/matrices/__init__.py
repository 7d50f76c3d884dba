"""Convolution as products of matrices, and what kernels ask of panels and rows of one."""
