"""Matrix products at the speed of the hardware.

`product` writes the kernel, with `strips` for what is brought into shared memory, and
`tensor_cores` one for 16-bit numbers; `tiles` chooses how a product is cut up, `planning` looks at
the layouts, and `ops` launches.
"""
