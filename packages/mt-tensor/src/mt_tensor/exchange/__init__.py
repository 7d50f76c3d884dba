"""Copies of tensors, and their elements elsewhere."""
