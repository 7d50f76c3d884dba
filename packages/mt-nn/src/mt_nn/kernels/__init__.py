"""Kernels for operations of networks, by backend."""
