"""Kernels that sort rows, search in sorted rows, and find nonzero elements."""
