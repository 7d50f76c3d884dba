"""Copy, gather and scatter.

Kernels that only move elements treat them as unsigned integers of their size, so that four kernels
serve all dtypes.
"""

from __future__ import annotations

import functools

import numpy as np

from mt_fast.core import loops
from mt_fast.core import movement_source as texts
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.layouts import collapse
from mt_fast.core.loop_source import Form
from mt_fast.core.loops import SHORT, leanest, run_loop, strided
from mt_fast.core.lowering import TABLE
from mt_fast.core.tables import SPECIAL_CASES
from mt_operators import Operator
from mt_tensor import DType, TensorData, uint8
from mt_tensor.core.tensor_data import MOST_DIMENSIONS

_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def as_unsigned(data: TensorData) -> TensorData:
    """Return a view of the same elements as unsigned integers of their size."""
    storage = data.storage.view(_BITS[data.dtype.itemsize])
    return TensorData(storage, data.shape, data.strides, data.offset, dtype=uint8)


@functools.lru_cache(None)
def copy_kernel(source: DType, target: DType, form: Form, repeats: bool) -> Kernel:
    """Return the kernel that copies and converts; see `core/movement_source.py`."""
    return compiled(texts.copy(source, target, form=form, repeats=repeats))


def copy(source: TensorData, out: TensorData, parallel: bool) -> None:
    """Copy between views of one shape, which is not empty; narrow types are not converted here."""
    special = SPECIAL_CASES.get("copy")
    if special is not None and special(source, out, parallel):
        return
    same = source.dtype is out.dtype
    if same and not parallel and source.ndim <= MOST_DIMENSIONS:
        np.copyto(out.array, source.array)  # as fast as a kernel is on one thread
        return
    if same:
        source, out = as_unsigned(source), as_unsigned(out)
    layout = collapse(source.shape, (source.strides, out.strides))
    loop = leanest(layout, 1, layout.size < loops.WORTH_A_KERNEL)
    if loop.form == "transposed" or (len(layout.sizes) > 1 and layout.sizes[-1] < SHORT):
        loop = strided(layout)

    def find(form: Form, repeats: tuple[bool, ...], _transposed: tuple[bool, ...]) -> Kernel:
        return copy_kernel(source.dtype, out.dtype, form, repeats[0])

    run_loop(find, (source, out), loop, parallel)


@functools.lru_cache(None)
def gather_kernel() -> Kernel:
    """Return the kernel that reads by index."""
    return compiled(texts.gather())


def gather(
    source: TensorData, dim: int, index: TensorData, out: TensorData, parallel: bool
) -> None:
    """Read along `dim`; the index is not empty."""
    source, out = as_unsigned(source), as_unsigned(out)
    views = (_base(source, dim, index), index, out)
    _run_indexed(gather_kernel(), views, parallel, source.strides[dim])


@functools.lru_cache(None)
def scatter_kernel(operator: Operator | None, dtype: DType) -> Kernel:
    """Return the kernel that writes by index, combining if there is an operator."""
    return compiled(texts.scatter(operator, dtype, TABLE))


def scatter(
    source: TensorData, dim: int, index: TensorData, out: TensorData, operator: Operator | None
) -> None:
    """Write along `dim`; the index is not empty. One thread, since positions may repeat."""
    if operator is None:
        source, out = as_unsigned(source), as_unsigned(out)
    kernel = scatter_kernel(operator, source.dtype)
    views = (_base(out, dim, index), index, source)
    _run_indexed(kernel, views, False, out.strides[dim])


def _run_indexed(
    kernel: Kernel, views: tuple[TensorData, ...], parallel: bool, stride: int
) -> None:
    """Run a kernel that reads or writes the first view by index, `stride` apart."""
    layout = collapse(views[0].shape, tuple(view.strides for view in views))
    run_loop(lambda *_: kernel, views, strided(layout), parallel, stride)


def _base(data: TensorData, dim: int, index: TensorData) -> TensorData:
    """Return the elements at position 0 of `dim`, as a view of the shape of the index."""
    strides = tuple(0 if d == dim else stride for d, stride in enumerate(data.strides))
    return data.like(index.shape, strides, data.offset)
