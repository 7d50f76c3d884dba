"""A compiled program as one CUDA graph: the driver launches all of its kernels at once."""
