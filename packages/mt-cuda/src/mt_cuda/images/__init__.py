"""Convolution and pooling: kernels that find by arithmetic what a window sees of an image."""
