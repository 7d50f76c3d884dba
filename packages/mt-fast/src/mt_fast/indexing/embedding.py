"""Look up rows of a table, and add up their gradients.

The loop that reads the rows checks the indices, so that no separate pass is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.tables import empty
from mt_fast.indexing.slices import ADD_PIECES
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_tensor import Tensor
from mt_tensor.extending import FUSED, FusedKernel, Gradients, Needs, Saved


def _rows(lo: Any, hi: Any, table: Any, numbers: Any, out: Any, wrong: Any) -> None:
    """Write a row of the table for each number."""
    for i in range(lo, hi):
        number = numbers[i]
        if number < 0 or number >= len(table):
            wrong[0] = True
        else:
            target, row = out[i], table[number]
            for j in range(row.size):
                target[j] = row[j]


_LOOKUP = Kernel.of(_rows)


class _Embedding(FusedKernel):
    """Embedding lookup: a table, and the numbers of the rows to return."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether the table is float32 or float64, and neither it nor the index is empty."""
        table, numbers = arguments
        return is_compiled(table) and numbers.numel() > 0

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the rows.

        Raises:
            IndexingError: a row number is out of range.
        """
        table, indices = arguments
        rows, numbers = array_of(table), array_of(indices).reshape(-1)
        out, wrong = empty((len(numbers), rows.shape[1]), rows.dtype), np.zeros(1, np.bool_)
        _LOOKUP.run(len(numbers), shared(out.size, table), rows, numbers, out, wrong)
        if wrong[0]:
            FUSED["embedding"](*arguments)  # raises the error
        return tensor_of(out.reshape(*indices.shape, -1), table), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the table."""
        table, indices = arguments
        out, numbers = np.zeros((1, *table.shape), table.dtype.numpy), array_of(indices).reshape(-1)
        upstream = array_of(grad).reshape(1, len(numbers), -1)
        parallel = shared(upstream.size, table)
        ADD_PIECES.run(len(table), parallel, upstream, numbers, out)
        return tensor_of(out[0], table), None


KERNELS: dict[str, FusedKernel] = {"embedding": _Embedding()}
"""For `mt_tensor.extending.register_kernels`."""
