"""Rows of a table looked up, and their gradients added up where they came from.

Both are primitives of the backend, on rows as they lie: no index and no gradient is copied before.
Gradients are added atomically, in no fixed order; see `mt_cuda.indexed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_cuda.library.fused.tensors import is_floating, ops_of, tensor_of
from mt_operators import OPERATORS
from mt_tensor import Tensor, TensorData, int64
from mt_tensor.extending import FUSED, FusedKernel


class Embedding(FusedKernel):
    """A table, and numbers of its rows."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, a single number and integers of fewer bits to the composition."""
        table, numbers = arguments
        counts = numbers.ndim > 0 and numbers.numel() > 0 and numbers.dtype is int64
        return counts and is_floating(table)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the rows.

        Raises:
            IndexingError: there is no such row.
        """
        table, numbers = arguments
        _check(table, numbers)
        rows = _for_each(table._tensor, numbers)
        return tensor_of(ops_of(table).gather(rows, 0, _index(table, numbers)), table), ()

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradient of the table."""
        table, numbers = arguments
        ops, index = ops_of(table), _index(table, numbers)
        out = ops.full(table.shape, table.dtype, 0)
        seen = TensorData(out.storage, out.shape, dtype=out.dtype)  # nobody else's view
        ops.scatter(grad._tensor, 0, index, _for_each(seen, numbers), OPERATORS["add"])
        return tensor_of(out, table), None


def _index(table: Tensor, numbers: Tensor) -> TensorData:
    """Return the number of its row for each element that is looked up."""
    given = numbers._tensor
    shape, strides = (*given.shape, table.shape[1]), (*given.strides, 0)
    return given.like(shape, strides, given.offset)


def _for_each(table: TensorData, numbers: Tensor) -> TensorData:
    """Return a table with the dimensions of what is looked up: the same for each but the first."""
    (rows, width), (row, column) = table.shape, table.strides
    others = numbers.shape[1:]
    return table.like((rows, *others, width), (row, *(0 for _ in others), column), table.offset)


def _check(table: Tensor, numbers: Tensor) -> None:
    """Raise IndexingError, as the composition does, if there is no such row."""
    array = numbers.backend.to_host(numbers._tensor)
    if array.min() < 0 or array.max() >= table.shape[0]:
        FUSED["embedding"](table, numbers)


EMBEDDING = Embedding()
