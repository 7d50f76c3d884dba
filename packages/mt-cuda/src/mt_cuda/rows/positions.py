"""Argmax and argmin along a dimension, in one launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from mt_cuda.core.elements import computed
from mt_cuda.rows.kernels import Operand, Rows, planned, rows_along
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import elements_of, new, ops_of, tensor_of
from mt_tensor import DType, Tensor, int64
from mt_tensor.extending import FUSED

Name = Literal["argmax", "argmin"]

LONGEST = 256
"""The maximum number of elements of a row per thread of a block. For longer rows, several launches
that use the whole GPU are faster."""


def first_of_rows(name: Name, dtype: DType, team: Team) -> Rows:
    """Return the kernel of the first position of the extreme, or of nan, in each row."""
    operands = {"x": Operand(dtype), "out": Operand(int64, "row")}
    rows = Rows(name, operands, team, computed(dtype))
    better = "larger" if name == "argmax" else "smaller"
    rows.fold("extreme", better, rows.element("x", "0"), "{x}")
    place = "j if ({x} == extreme) | ({x} != {x}) else length"
    rows.fold("place", "smaller", "length", place, "int64")
    return rows.store("out", "place")


def _position(name: Name) -> Callable[[Tensor, int], Tensor]:
    """Return the function that finds the first position of the extreme; it has no gradient."""

    def kernel(x: Tensor, dim: int) -> Tensor:
        ops = ops_of(x)
        if not x.numel() or x.shape[dim] > ops.machine.size.threads * LONGEST:
            return FUSED[name](x, dim)
        plan = planned(ops, (first_of_rows, name, x.dtype), rows_along(x.shape, dim))
        out = new(x, (*x.shape[:dim], 1, *x.shape[dim + 1 :]), int64)
        ops.launch(plan, [elements_of(x), out])
        return tensor_of(out, x)

    return kernel


KERNELS = {"argmax": _position("argmax"), "argmin": _position("argmin")}
"""For `mt_tensor.extending.register_kernels`."""
