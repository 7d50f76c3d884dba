"""Views of a storage with any shape and strides: `x.as_strided((2, 2), (1, 1))`.

Elements of such a view may overlap, and may be outside of `x`, elsewhere in its storage. For the
gradient, both tensors are described by the positions of their elements in the storage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import as_integer, as_integers, as_shape
from mt_tensor.core.dtypes import Array
from mt_tensor.core.extensions import ACTIVE_TAPES
from mt_tensor.core.gathering import Collect, Gather
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import ViewFunction
from mt_tensor.core.strides import Shape, Strides, overlaps
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import reshaped
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.recording.aliasing import positions
from mt_tensor.tape import refuse_to_capture


class AsStrided(ViewFunction):
    """View a storage with another shape, other strides and another offset."""

    @staticmethod
    def layout(layout: Layout, shape: Shape, strides: Strides, offset: int, _: Layout) -> Layout:
        return layout.like(shape, strides, offset)

    @staticmethod
    def backward(
        grad: Tensor, _: Any, shape: Shape, strides: Strides, offset: int, base: Layout
    ) -> Tensor:
        """Add up the gradient at each position; elements that share one get equal parts of it."""
        in_view = positions(shape, strides, offset).reshape(-1)
        in_base = positions(base.shape, base.strides, base.offset).reshape(-1)
        distinct, inverse = np.unique(np.concatenate([in_base, in_view]), return_inverse=True)
        row = reshaped(grad, (grad.numel(),))
        row = Collect.apply(row, _index(inverse[in_base.size :], grad), 0, (distinct.size,))
        if overlaps(base.shape, base.strides):
            counts = np.bincount(inverse[: in_base.size], minlength=distinct.size)
            row = row / row._uploaded(np.maximum(counts, 1), row.dtype)
        return reshaped(Gather.apply(row, _index(inverse[: in_base.size], grad), 0), base.shape)


def _index(array: Array, like: Tensor) -> Tensor:
    return like._with(like.backend.from_host(np.ascontiguousarray(array, np.int64)))


@validate_call
def as_strided(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a view of the storage of `input` with a given shape and strides, which may overlap.

    Args:
        input: any tensor.
        size: the shape of the view.
        stride: the stride of each dimension, in elements.
        storage_offset: the position of the first element in the storage; that of `input` by
            default.

    Raises:
        ShapeError: `size` and `stride` have different lengths, or a size or stride is negative.
        IndexingError: the view exceeds the storage, or the offset is negative.
        TypeError: a size, stride or offset is not an integer.
        CompileError: a program is being recorded, and `storage_offset` was given, or the view reads
            elements outside of `input`.
    """
    shape, strides = as_shape((size,)), as_integers((stride,))
    if len(shape) != len(strides) or min(strides, default=0) < 0:
        raise ShapeError(
            "as_strided() takes one non-negative stride per dimension; size "
            f"{shape} and stride {strides} were given."
        )
    source = input._tensor.layout
    offset = source.offset
    if storage_offset is not None:
        refuse_to_capture("reads a position in memory")
        offset = as_integer("as_strided(): storage_offset", storage_offset)
    if 0 in shape:
        offset = source.offset  # no elements, but the offset must stay inside the storage
    else:
        last = offset + sum(step * (count - 1) for step, count in zip(strides, shape, strict=True))
        if ACTIVE_TAPES.count and not _is_between(input, offset, last):
            refuse_to_capture("views memory outside of a tensor, by as_strided()")
        end = _length(input)
        if offset < 0 or last >= end:
            raise IndexingError(
                f"as_strided() with size {shape}, stride {strides} and storage_offset {offset} "
                f"reads elements {offset} to {last} of a storage of {end} element(s)."
            )
    return AsStrided.apply(input, shape, strides, offset, source)


def _length(x: Tensor) -> int:
    """Return the number of elements of a storage, or of its known part if it has no length."""
    storage = x._tensor.storage
    if hasattr(storage, "__len__"):
        return len(storage)
    if hasattr(storage, "nbytes"):
        return int(storage.nbytes) // x.dtype.itemsize
    return 1 + _ends((x if x._base is None else x._base)._tensor.layout)[1]


def _is_between(x: Tensor, first: int, last: int) -> bool:
    """Return whether positions in a storage are between the ends of a tensor.

    A replay gets the same layout, but possibly another storage.
    """
    layout = x._tensor.layout
    low, high = _ends(layout)
    return layout.size > 0 and low <= first and last <= high


def _ends(layout: Layout) -> tuple[int, int]:
    """Return the lowest and the highest position of an element of a non-empty view."""
    reach = [step * (size - 1) for step, size in zip(layout.strides, layout.shape, strict=True)]
    return tuple(layout.offset + sum(pick(each, 0) for each in reach) for pick in (min, max))  # type: ignore[return-value]
