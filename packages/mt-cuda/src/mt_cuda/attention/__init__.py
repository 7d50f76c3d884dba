"""Attention whose weights are never stored; `tiles` has what the three kernels share."""
