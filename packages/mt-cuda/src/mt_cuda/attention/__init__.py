"""Attention whose weights are never stored; `tiles` is shared by the three kernels."""
