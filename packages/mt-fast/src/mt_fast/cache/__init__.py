"""Compiled kernels on disk, in files that no other user can have written."""
