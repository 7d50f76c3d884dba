"""The `numpy` backend that users get: formulas as source, in blocks, and kernels."""
