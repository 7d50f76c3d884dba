"""Kernels over rows of elements, by teams of threads; softmax and others."""
