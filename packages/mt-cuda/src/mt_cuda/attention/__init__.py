"""Attention that never writes its weights down: `tiles` has what its three kernels share."""
