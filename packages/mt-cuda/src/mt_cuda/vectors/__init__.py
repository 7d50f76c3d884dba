"""Kernels that move 16 bytes of memory at a time, which is what a GPU does fastest."""
