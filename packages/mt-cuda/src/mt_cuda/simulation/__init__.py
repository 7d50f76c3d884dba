"""What the simulator finds beyond the core, and more that kernels may contain there."""
