"""The lesson: from the text of a kernel to a backend whose primitives are launches of kernels."""
