"""Kernels for named operations, and the decorator that looks them up."""
