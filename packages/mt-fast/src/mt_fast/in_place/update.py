"""Run a formula whose results replace its inputs, as a step of an optimizer does.

The kernel reads all that it needs of an element before it writes. To a processor, addresses that
differ by a multiple of 4096 look alike for a while, as those of large arrays that begin at a page
do. A read would then wait for an earlier write to what seems to be the same place, which makes each
step three times as long.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.lowering import TABLE
from mt_fast.core.tables import SPECIAL_CASES
from mt_fast.in_place.source import Kind, update_source
from mt_operators import Formula
from mt_tensor import DType, TensorData, float32, float64
from mt_tensor.extending import Number


@functools.lru_cache(None)
def update_kernel(
    formula: Formula, dtype: DType, kinds: tuple[Kind, ...], changed: tuple[int, ...]
) -> Kernel:
    """Return the kernel of a formula over inputs of one type; see `in_place/source.py`."""
    return compiled(update_source(formula, dtype, kinds, changed, TABLE))


def update(
    formula: Formula,
    out: Sequence[TensorData],
    inputs: Sequence[TensorData | Number],
    parallel: bool,
) -> bool:
    """Run the kernel of a formula if that takes such inputs, and return whether it does.

    It takes contiguous views, views that repeat one element, and numbers.

    Args:
        formula: what to compute.
        out: what the results replace: some of the inputs.
        inputs: what it reads, of one type.
        parallel: whether to use all threads.
    """
    layout = out[0].layout
    try:
        changed = tuple(map(inputs.index, out))
    except ValueError:  # an output is no input
        return False
    size, shape, dtype = layout.size, layout.shape, layout.dtype
    if not (size and layout.row_major and (dtype is float32 or dtype is float64)):
        return False
    kinds: list[Kind] = []
    arguments: list[Any] = []
    for data in inputs:
        if isinstance(data, TensorData):
            own = data.layout
            if own is layout or (own.row_major and own.shape == shape):
                kinds.append("row")
            elif own.repeats:
                kinds.append("element")
            else:
                return False
            arguments += (data.storage, own.offset)
        else:
            kinds.append("number")
            arguments.append(float(data))
    kernel = update_kernel(formula, dtype, tuple(kinds), changed)
    kernel.run(size, parallel, *arguments)
    return True


SPECIAL_CASES["update"] = update
