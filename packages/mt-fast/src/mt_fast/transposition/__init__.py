"""Transposition of columns to rows, in vector registers."""
