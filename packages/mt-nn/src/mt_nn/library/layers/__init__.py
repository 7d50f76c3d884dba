"""Layers beyond the linear one, convolution, pooling and dropout."""
