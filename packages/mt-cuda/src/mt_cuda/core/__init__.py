"""The core of stage 4: from kernel source to a backend whose primitives launch kernels."""
