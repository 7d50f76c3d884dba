"""Kernel text to read."""
