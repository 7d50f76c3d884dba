"""Optimizations of the `numpy` backend for large arrays: blocks, in-place updates, no branches."""
