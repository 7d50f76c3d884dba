"""Kernels that move 16 bytes of memory at a time, which is what a GPU does fastest.

In the text of a kernel, `load4(x, i)` and `store4(x, i, values)` move 16 bytes of an array at once,
here four elements of 32 bits.
"""
