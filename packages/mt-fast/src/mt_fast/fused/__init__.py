"""Fused kernels for named operations, which do several passes over memory in one.

Each file covers one operation: first its kernels on arrays, then the operation on tensors.
"""
