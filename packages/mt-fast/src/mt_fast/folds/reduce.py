"""Plan a reduction of strided elements in place, once per layout.

Making a plan takes longer than adding ten thousand numbers. It depends on shapes and strides alone,
and is cached.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mt_fast.core.loops import CACHE_SIZE, collapse
from mt_fast.core.tables import SPECIAL_CASES, empty
from mt_fast.folds.kernels import step_of
from mt_fast.folds.parts import split_plan
from mt_fast.folds.plans import OUT, SOURCE, Dimension, Fold, Plan
from mt_fast.small import SMALL
from mt_operators import Operator
from mt_tensor import TensorData
from mt_tensor.backends.extending import UFUNCS, Layout, no_warnings, row_major
from mt_tensor.extending import reduce_shape


@functools.lru_cache(CACHE_SIZE)
def planned(
    operator: Operator, source: Layout, dims: tuple[int, ...], parallel_from: int
) -> Plan | None:
    """Return the plan to reduce a view to a contiguous one.

    Return None if no dimension is reduced, or if the elements must be copied to rows first.

    Args:
        operator: the operator to reduce with.
        source: the layout of the view, which is not empty.
        dims: the dimensions to reduce.
        parallel_from: the number of elements from which all threads are used.
    """
    shape, dtype = source.shape, source.dtype
    results = row_major(reduce_shape(shape, dims, True), dtype).strides
    out_strides = tuple([0 if d in dims else stride for d, stride in enumerate(results)])
    # `out` has nonzero strides along kept dimensions only, so that no reduced one merges with them.
    layout = collapse((Layout(dtype, shape, out_strides), source))
    kept: list[Dimension] = []
    folded: list[Dimension] = []
    for size, out_stride, source_stride in zip(layout.sizes, *layout.strides, strict=True):
        (kept if out_stride else folded).append(Dimension(size, source_stride, out_stride))
    if not folded:
        return None
    out_step, source_step = (strides[-1] for strides in layout.strides)
    across = out_step == source_step == 1
    read, written = (SOURCE, layout.starts[1]), (OUT, layout.starts[0])
    fold = Fold(operator, dtype, read, written, tuple(kept), tuple(folded), across)
    plan = split_plan(fold, parallel_from)
    if plan is None:
        step = step_of(fold, fold.elements() >= parallel_from)
        plan = Plan((step,)) if step else None
    return plan


def reducer(
    operator: Operator, source: Layout, dims: tuple[int, ...], result: Layout, parallel_from: int
) -> Callable[[TensorData], TensorData] | None:
    """Return the function of a reduction; None if its elements must be copied to rows first."""
    ufunc = UFUNCS.get(operator.name)
    is_small = source.size < min(SMALL, parallel_from)
    if is_small and ufunc is not None and source.dtype.kind == "float":
        return by_numpy(ufunc, dims, result, len(result.shape) == len(source.shape))
    plan = planned(operator, source, dims, parallel_from)
    if plan is None:
        return None

    def reduce(view: TensorData) -> TensorData:
        out = empty(result.size, result.dtype.numpy)
        plan.run(view.storage, out)
        return TensorData.of_storage(out, result)

    return reduce


def by_numpy(
    ufunc: Any, dims: tuple[int, ...], result: Layout, keepdim: bool
) -> Callable[[TensorData], TensorData]:
    """Return the function of a reduction of few elements, for which a kernel takes longer to call.

    NumPy adds the elements one after the other, which is just as accurate for so few.
    """
    shape, dtype = result.shape, result.dtype.numpy

    def reduce(view: TensorData) -> TensorData:
        out = np.empty(shape, dtype)
        no_warnings().run(ufunc.reduce, view.array, dims, None, out, keepdim)
        return TensorData.of(out, result)

    return reduce


SPECIAL_CASES["reduce"] = reducer
