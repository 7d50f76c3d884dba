"""Reverse-mode automatic differentiation."""

__version__ = "0.1.0"
