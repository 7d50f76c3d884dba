"""Atomic writing of files, and reading within limits."""
