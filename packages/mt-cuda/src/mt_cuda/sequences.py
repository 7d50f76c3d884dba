"""Evenly spaced integers, which every thread computes from its own number."""

from __future__ import annotations

import numpy as np

from mt_cuda.core.elements import operand, store
from mt_cuda.core.kernel import Kernel, define, numbers, over_grid
from mt_cuda.tensors import new, ops_of, planned_over_grid, tensor_of
from mt_tensor import DType, Tensor
from mt_tensor.extending import FUSED, Number

EXACT = 2**53
"""The largest integer up to which all integers are exact in float64."""


def sequence(dtype: DType) -> Kernel:
    """Return the kernel that stores `first + step * i` for each of `n` elements."""
    value = store(f"{dtype.name}(first + pace * i)", dtype)
    parameters = [*numbers("n", "first", "pace"), *operand("out", dtype)]
    return define(f"arange_{dtype.name}", parameters, over_grid([f"out[out_at + i] = {value}"]))


def arange(like: Tensor, count: int, first: Number, step: Number) -> Tensor:
    """Return `first + step * i` in the dtype of `like`; non-integers are computed on the host."""
    is_integer = int(first) == first and int(step) == step
    if not count or not is_integer or abs(first) + abs(step) * count > EXACT:
        return FUSED["arange"](like, count, first, step)
    ops, out = ops_of(like), new(like, (count,))
    plan = planned_over_grid(ops, (sequence, like.dtype), count)
    ops.launch(plan, (out,), (np.int64(first), np.int64(step)))
    return tensor_of(out, like)


KERNELS = {"arange": arange}
"""For `mt_tensor.extending.register_kernels`."""
