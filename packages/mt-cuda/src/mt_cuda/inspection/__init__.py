"""Kernels as text, as PTX and as machine code, to read."""
