"""Kernels that move 16 bytes of memory at a time, the fastest access of a GPU.

In the source of a kernel, `load4(x, i)` and `store4(x, i, values)` move 16 bytes of an array at
once, here four elements of 32 bits.
"""
