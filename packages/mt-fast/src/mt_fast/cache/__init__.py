"""Compiled kernels on disk, in files that only this user can have written."""
