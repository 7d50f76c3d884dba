"""Kernels as C, which the compilers of GPUs accept; `translation` generates it."""
