"""Columns of memory that become rows, in vector registers."""
