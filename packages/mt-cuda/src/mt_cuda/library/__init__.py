"""Beyond the lesson of stage 4: the means to look at its kernels."""
