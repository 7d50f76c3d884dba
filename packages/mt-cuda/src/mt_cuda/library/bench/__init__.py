"""What can be measured of the kernels, on a GPU and without one; `mt_cuda.bench` is the command."""
