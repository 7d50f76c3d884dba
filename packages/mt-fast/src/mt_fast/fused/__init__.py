"""Kernels for named operations: several passes over memory in one.

Each subject has a file: loops over arrays first, and then the operation on tensors.
"""
