"""Where along a dimension the largest or smallest element is, in one launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from mt_cuda.core.elements import computed
from mt_cuda.rows.kernels import Operand, Rows, planned, rows_along
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import elements_of, new, ops_of, tensor_of
from mt_tensor import DType, Tensor, int64
from mt_tensor.extending import FUSED

Name = Literal["argmax", "argmin"]

LONGEST = 256
"""How many elements of a row there are for each thread of a block at most. A longer row is worth
the launches in which all of a GPU looks through it."""


def first_of_rows(name: Name, dtype: DType, team: Team) -> Rows:
    """Return the kernel of the first place in each row that holds the extreme, or nan."""
    operands = {"x": Operand(dtype), "out": Operand(int64, "row")}
    rows = Rows(name, operands, team, computed(dtype))
    better = "larger" if name == "argmax" else "smaller"
    rows.fold("extreme", better, rows.element("x", "0"), "{x}")
    place = "j if ({x} == extreme) | ({x} != {x}) else length"
    rows.fold("place", "smaller", "length", place, "int64")
    return rows.store("out", "place")


def _position(name: Name) -> Callable[[Tensor, int], Tensor]:
    """Return what finds the first place of the extreme; it has no gradient."""

    def kernel(x: Tensor, dim: int) -> Tensor:
        ops = ops_of(x)
        threads = ops.machine.size.threads
        if not x.numel() or x.shape[dim] > threads * LONGEST:
            return FUSED[name](x, dim)
        layout = rows_along(x.shape, dim)

        def plan() -> Any:
            return planned(ops, first_of_rows(name, x.dtype, layout.teams(threads)), layout)

        out = new(x, (*x.shape[:dim], 1, *x.shape[dim + 1 :]), int64)
        ops.launch(ops.remembered((name, x.dtype, layout), plan), [elements_of(x), out])
        return tensor_of(out, x)

    return kernel


KERNELS = {"argmax": _position("argmax"), "argmin": _position("argmin")}
"""For `mt_tensor.extending.register_kernels`."""
