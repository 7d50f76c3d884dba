"""Matrix products at the speed of the hardware.

`product` generates the kernel, with `strips` for the data that is copied to shared memory, and
`tensor_cores` a kernel for tensor cores; `tiles` chooses how a product is split, `planning` maps
the layouts of two matrices to a kernel and its numbers, and `multiply` launches.
"""
