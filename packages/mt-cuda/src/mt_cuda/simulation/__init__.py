"""Extensions of the simulator: race detection, and further features of kernels."""
