"""Optimizations of the `numpy` backend for large arrays: blocks, and no branches."""
