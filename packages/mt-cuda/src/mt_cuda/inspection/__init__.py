"""Kernels as source, as PTX and as machine code, for reading."""
