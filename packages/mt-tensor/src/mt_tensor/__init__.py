"""Tensors over strided storage with automatic differentiation and interchangeable backends."""

__version__ = "0.1.0"
