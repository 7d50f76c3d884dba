"""Machine code of kernels: compiled by NVRTC, and cached on disk."""
