"""Evenly spaced whole numbers, which every thread knows by its own number."""

from __future__ import annotations

import numpy as np

from mt_cuda.core.backend import Plan
from mt_cuda.core.kernel import Kernel, define, numbers, operand, over_grid, store
from mt_cuda.tensors import new, ops_of, tensor_of
from mt_tensor import DType, Tensor
from mt_tensor.extending import FUSED, Number

EXACT = 2**53
"""Up to here floats are whole numbers, as many as there are of them."""


def sequence(dtype: DType) -> Kernel:
    """Return the kernel that stores `first + step * i` for each of `n` elements."""
    value = store(f"{dtype.name}(first + pace * i)", dtype)
    parameters = [*numbers("n", "first", "pace"), *operand("out", dtype)]
    return define(f"arange_{dtype.name}", parameters, over_grid([f"out[out_at + i] = {value}"]))


def arange(like: Tensor, count: int, first: Number, step: Number) -> Tensor:
    """Return `first + step * i`, as the type of `like`; fractions are left to the host."""
    whole = int(first) == first and int(step) == step
    if not count or not whole or abs(first) + abs(step) * count > EXACT:
        return FUSED["arange"](like, count, first, step)
    ops, out = ops_of(like), new(like, (count,))

    def plan() -> Plan:
        return ops.plan_over_grid(sequence(like.dtype), count, ())

    ready = ops.remembered(("arange", like.dtype, count), plan)
    ops.launch(ready, (out,), (np.int64(first), np.int64(step)))
    return tensor_of(out, like)


KERNELS = {"arange": arange}
"""For `mt_tensor.extending.register_kernels`."""
