"""Blocks of matrices in registers: large products."""
