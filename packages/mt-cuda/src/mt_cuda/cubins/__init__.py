"""Machine code of kernels: compiled by NVRTC, and on disk from process to process."""
