"""Kernels as C, which the compilers of GPUs read: `translation` writes it, the others help."""
