"""Kernels for operations of networks, by the backend that they are given to."""
