"""A tensor backend that compiles every operator to GPU kernels with Numba CUDA."""

__version__ = "0.1.0"
