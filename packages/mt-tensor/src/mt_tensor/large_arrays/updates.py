"""Updates in place by the `numpy` backend: several tensors in one pass, block by block.

NumPy's functions do one step each: over whole arrays, a formula of twelve steps reads and writes
memory twelve times. What is done with one block of all rows before the next stays in the
processor's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_operators import Formula
from mt_tensor.core.dtypes import Array, Number
from mt_tensor.core.host import no_warnings
from mt_tensor.core.numpy_backend import Function, on_arrays
from mt_tensor.core.numpy_functions import SPECIAL_CASES, typed
from mt_tensor.core.tensor_data import TensorData

BLOCK = 16384
"""How many elements a block has. With fewer the calls would take longer than the arithmetic."""


def update(
    formula: Formula, out: Sequence[TensorData], inputs: Sequence[TensorData | Number]
) -> bool:
    """Replace rows by the results of a formula of them, and return whether all views are rows.

    Rows are contiguous; beside them there may be numbers, and views of one element. Arrays of a
    single block, and of 16 bits, are left to others.
    """
    layout = out[0].layout
    if layout.dtype.is_narrow or layout.size <= BLOCK or any(x not in inputs for x in out):
        return False
    arguments: list[Array] = []
    for data in inputs:
        if not isinstance(data, TensorData):
            arguments.append(typed(data, layout.dtype.numpy))
        elif data.layout.row_major and data.layout.shape == layout.shape:
            arguments.append(data.array.reshape(-1))
        elif data.layout.size == 1:
            arguments.append(data.array.reshape(()).astype(layout.dtype.numpy))
        else:
            return False
    changed = [arguments[inputs.index(view)] for view in out]
    no_warnings().run(_by_blocks, on_arrays(formula, layout.dtype), changed, arguments)
    return True


def _by_blocks(function: Function, changed: Sequence[Array], arguments: Sequence[Any]) -> None:
    """Replace the elements of rows by the results of a function, a block at a time."""
    for start in range(0, changed[0].size, BLOCK):
        block = slice(start, start + BLOCK)
        results = function(*[x[block] if x.ndim else x for x in arguments])
        results = results if isinstance(results, tuple) else (results,)
        for row, result in zip(changed, results, strict=True):
            row[block] = result


SPECIAL_CASES["update"] = update
