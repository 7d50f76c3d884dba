"""Copy, gather and scatter: move elements.

NumPy copies and converts, unless `transposition/` has registered a kernel for a case. Kernels that
only move elements read them as unsigned integers, so that one kernel serves all dtypes of a size.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mt_fast.core import loops
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.lowering import TABLE
from mt_fast.core.rendering import render, traced
from mt_fast.core.source import Element, View, loop
from mt_fast.core.tables import SPECIAL_CASES, empty
from mt_operators import Operator
from mt_tensor import DType, TensorData, uint8
from mt_tensor.core import host
from mt_tensor.core.casting import assign
from mt_tensor.core.layout import Layout
from mt_tensor.core.tensor_data import MAX_DIMENSIONS, not_an_array

BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def new_view(layout: Layout) -> TensorData:
    """Return a new view with arbitrary elements; raise ShapeError if there would be too many."""
    try:
        return TensorData.of_storage(empty(layout.size, layout.dtype.numpy), layout)
    except ValueError as error:
        raise not_an_array((layout.size,)) from error


def copy(source: TensorData, out: TensorData, parallel: bool) -> None:
    """Copy and convert between views of one shape, which is not empty."""
    special = SPECIAL_CASES.get("copy")
    if special is None or not special(source, out, parallel):
        host.no_warnings().run(assign, out.array, source.array)


def copied(source: TensorData, out: Layout, parallel: bool) -> TensorData:
    """Return a copy with a contiguous layout."""
    if out.size < loops.KERNEL_FROM and len(out.shape) <= MAX_DIMENSIONS:
        return host.copied(source, out)  # faster than the choice of a kernel
    result = new_view(out)
    if out.size:
        copy(source, result, parallel)
    return result


@functools.cache
def gather_kernel() -> Kernel:
    """Return the kernel that reads by index; `step` is the stride of the indexed dimension."""

    def body(element: Element) -> list[str]:
        position = f"source_at + uint64({element('index')} * step)"
        return [f"{element('out')} = source_data[{position}]"]

    views = [View("source"), View("index"), View("out")]
    return compiled(loop("strided", "gather", views, body, ("step",)))


def gather(
    source: TensorData, dim: int, index: TensorData, out: TensorData, parallel: bool
) -> None:
    """Read along `dim`; the index is not empty."""
    loop = _indexed_loop(source.layout, dim, index.layout, out.layout, parallel)
    storages = unsigned(source.storage), index.storage, unsigned(out.storage)
    loop.run(gather_kernel(), storages, parallel, source.strides[dim])


@functools.lru_cache(None)
def scatter_kernel(operator: Operator | None, dtype: DType) -> Kernel:
    """Return the kernel that writes by index; an operator combines old and new elements."""

    def body(element: Element) -> list[str]:
        target = f"out_data[out_at + uint64({element('index')} * step)]"
        if operator is None:
            return [f"{target} = {element('source')}"]
        rendered = render(traced(operator.value, TABLE), ("left", "right"), dtype, (dtype,), TABLE)
        return [
            f"left = {target}",
            f"right = {element('source')}",
            *rendered.statements,
            f"{target} = {rendered.results[0]}",
        ]

    name = "scatter" if operator is None else f"scatter_{operator.name}_{dtype.name}"
    views = [View("out"), View("index"), View("source")]
    return compiled(loop("strided", name, views, body, ("step",)))


def scatter(
    source: TensorData, dim: int, index: TensorData, out: TensorData, operator: Operator | None
) -> None:
    """Write along `dim` on one thread, since indices may repeat; the index is not empty."""
    loop = _indexed_loop(out.layout, dim, index.layout, source.layout, False)
    old, new, dtype = out.storage, source.storage, source.dtype
    if operator is None:
        old, new, dtype = unsigned(old), unsigned(new), uint8
    loop.run(scatter_kernel(operator, dtype), (old, index.storage, new), False, out.strides[dim])


def unsigned(storage: Any) -> Any:
    """Reinterpret a storage as unsigned integers of the same size."""
    return storage.view(BITS[storage.itemsize])


@functools.lru_cache(loops.CACHE_SIZE)
def _indexed_loop(
    indexed: Layout, dim: int, index: Layout, other: Layout, parallel: bool
) -> loops.Loop:
    """Return the loop over the elements at index 0 of `dim`, the index, and the other view."""
    strides = tuple(0 if d == dim else stride for d, stride in enumerate(indexed.strides))
    first = indexed.like(index.shape, strides, indexed.offset)
    return loops.loop_over((first, index, other), 0, parallel, strided=True)
