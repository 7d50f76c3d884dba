"""Kernels that fold rows and then visit their elements, by teams of threads; softmax and others."""
