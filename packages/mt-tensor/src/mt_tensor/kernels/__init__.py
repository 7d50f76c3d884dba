"""Kernels for named operations."""
