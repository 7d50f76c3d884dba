"""A tensor backend that compiles every operator to parallel SIMD loops with Numba."""

__version__ = "0.1.0"
