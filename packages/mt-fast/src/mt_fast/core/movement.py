"""Moving elements: copies between layouts and types, reading and writing by index.

The first primitives of the contract: `copy`, `gather` and `scatter`. What only moves elements does
not care what they mean. It sees them as unsigned integers of their size, so that four kernels do
for all element types.
"""

from __future__ import annotations

import functools

import numpy as np

from mt_fast.core import loops
from mt_fast.core import movement_source as texts
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.layouts import Layout, collapse
from mt_fast.core.loop_source import Form
from mt_fast.core.loops import SHORT, leanest, run_loop, shortest_row, strided
from mt_fast.core.lowering import TABLE
from mt_fast.memory.aligned import empty
from mt_operators import Operator
from mt_tensor import DType, TensorData, uint8
from mt_tensor.backends.extending import MOST_DIMENSIONS

_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def bits(data: TensorData) -> TensorData:
    """Return the same view of the elements' bits. Its dtype says nothing."""
    storage = data.storage.view(_BITS[data.dtype.itemsize])
    return TensorData(storage, data.shape, data.strides, data.offset, dtype=uint8)


@functools.lru_cache(None)
def copy_kernel(source: DType, target: DType, form: Form, repeats: bool) -> Kernel:
    """Return the kernel that copies and converts; see `core/movement_source.py`."""
    return compiled(texts.copy(source, target, form=form, repeats=repeats))


def copy(source: TensorData, out: TensorData, parallel: bool) -> None:
    """Copy between views of one shape, which is not empty; narrow types are not converted here."""
    layout = collapse(source.shape, (source.strides, out.strides))
    loop = leanest(layout, 1, layout.size < loops.WORTH_A_KERNEL)
    transposed = loop.form == "transposed"
    narrow = _is_narrow(layout, transposed)
    same = source.dtype is out.dtype
    if same and not (parallel or (transposed and not narrow)) and source.ndim <= MOST_DIMENSIONS:
        np.copyto(out.array, source.array)  # as fast as a kernel is on one thread
        return
    if same:
        source, out = bits(source), bits(out)
    elif transposed and layout.extents[-1] < shortest_row((source, out)):
        # Rows made of columns, and too short to be transposed and read in one loop.
        row = TensorData(empty(source.size, source.dtype.numpy), source.shape, dtype=source.dtype)
        copy(source, row, parallel)
        copy(row, out, parallel)
        return

    def find(form: Form, repeats: tuple[bool, ...], _transposed: tuple[bool, ...]) -> Kernel:
        if same and form == "transposed":
            return transpose_kernel()
        return copy_kernel(source.dtype, out.dtype, form, repeats[0])

    run_loop(find, (source, out), strided(layout) if narrow else loop, parallel)


def _is_narrow(layout: Layout, transposed: bool) -> bool:
    """Whether rows, or the columns that they are made of, are too short to be copied as such."""
    extents = layout.extents
    if len(extents) < 2:
        return False
    return extents[-1] < SHORT or (transposed and extents[layout.strides[0].index(1)] < SHORT)


@functools.lru_cache(None)
def transpose_kernel() -> Kernel:
    """Return the kernel that copies columns to rows; see `core/movement_source.py`."""
    return compiled(texts.transpose())


@functools.lru_cache(None)
def gather_kernel() -> Kernel:
    """Return the kernel that reads by index."""
    return compiled(texts.gather())


def gather(
    source: TensorData, dim: int, index: TensorData, out: TensorData, parallel: bool
) -> None:
    """Read along `dim`; the index is not empty."""
    source, out = bits(source), bits(out)
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
        source, out = bits(source), bits(out)
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
