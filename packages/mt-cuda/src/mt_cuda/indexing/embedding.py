"""Look up rows of a table, and add their gradients to the rows.

Both are primitives of the backend, on rows in place: neither indices nor gradients are copied
first. Gradients are added atomically, in no fixed order; see `mt_cuda.core.indexed`.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.tensors import is_floating, ops_of, tensor_of
from mt_operators import OPERATORS
from mt_tensor import Tensor, TensorData
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved


class Embedding(FusedKernel):
    """Embedding lookup; the arguments are a table and row numbers."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether the kernels support the arguments.

        The table must be non-empty and floating-point, the numbers non-empty and not a scalar.
        """
        table, numbers = arguments
        return numbers.ndim > 0 and numbers.numel() > 0 and is_floating(table)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the rows; save the checked row numbers.

        An invalid number raises an error at the next synchronization: see
        `mt_cuda.indexing.checks`.
        """
        table, numbers = arguments
        ops, where = ops_of(table), ("embedding()", "dimension 0")
        safe = ops.checked_indices(numbers._tensor, table.shape[0], where)
        rows = _for_each(table._tensor, safe)
        return tensor_of(ops.gather(rows, 0, _index(table, safe)), table), (safe,)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the table."""
        (table, _), (safe,) = arguments, saved
        ops, index = ops_of(table), _index(table, safe)
        out = ops.full(table.shape, table.dtype, 0)
        seen = TensorData(out.storage, out.shape, dtype=out.dtype)  # leaves `out` without views
        ops.scatter(grad._tensor, 0, index, _for_each(seen, safe), OPERATORS["add"])
        return tensor_of(out, table), None


def _index(table: Tensor, numbers: TensorData) -> TensorData:
    """Return the row number for each element of the result."""
    shape, strides = (*numbers.shape, table.shape[1]), (*numbers.strides, 0)
    return numbers.like(shape, strides, numbers.offset)


def _for_each(table: TensorData, numbers: TensorData) -> TensorData:
    """Expand a table to the dimensions of the numbers, with stride 0 for all but the first."""
    (rows, width), (row, column) = table.shape, table.strides
    others = numbers.shape[1:]
    return table.like((rows, *others, width), (row, *(0 for _ in others), column), table.offset)


KERNELS = {"embedding": Embedding()}
"""For `mt_tensor.extending.register_kernels`."""
