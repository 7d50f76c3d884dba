"""Kernels that sort rows, search in sorted ones, and find what is not zero."""
