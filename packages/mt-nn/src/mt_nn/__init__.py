"""Neural networks."""

__version__ = "0.1.0"
