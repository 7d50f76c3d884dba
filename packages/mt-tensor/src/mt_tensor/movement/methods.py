"""Methods without a free function, or that accept sizes as separate arguments: `x.repeat(2, 1)`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import as_integers
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import normalize_dim, size_of
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import reshaped
from mt_tensor.errors import ShapeError
from mt_tensor.movement import rearranging, splitting


def H(self: Tensor) -> Tensor:  # noqa: N802 - torch's name
    """The transpose of a matrix, as a view; also its adjoint, since elements are real.

    Raises:
        ShapeError: the tensor is not a matrix.
    """
    if self.ndim != 2:
        raise ShapeError(f"H needs a matrix; this tensor has shape {self.shape}. Use mH.")
    return self.mT


def split(self: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of consecutive pieces along a dimension; see `mt_tensor.split`."""
    return splitting.split(self, split_size, dim)


def repeat(self: Tensor, *times: Any, repeats: Any = None) -> Tensor:
    """Repeat the tensor `times[d]` times along each dimension `d`.

    Raises:
        ShapeError: there are fewer numbers than dimensions, or one is negative.
    """
    counts = as_integers(times, repeats)
    new = len(counts) - self.ndim
    if new < 0 or any(count < 0 for count in counts):
        raise ShapeError(
            f"repeat() takes a non-negative integer for each of the {self.ndim} dimension(s), and "
            f"any number of them in front for new dimensions; {counts} was given."
        )
    shape = (1,) * new + self.shape
    spread = self.reshape(*(each for size in shape for each in (1, size)))
    pairs = list(zip(counts, shape, strict=True))
    repeated = spread.expand(*itertools.chain(*pairs)).clone()
    return repeated.reshape(*(count * size for count, size in pairs))


def tile(self: Tensor, *times: Any, dims: Any = None) -> Tensor:
    """Repeat the tensor along each dimension; missing counts in front are 1.

    Raises:
        ShapeError: a count is negative.
    """
    return rearranging.tile(self, as_integers(times, dims))


@validate_call
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from `start_dim` to `end_dim`, inclusive, copying only if necessary.

    Raises:
        ShapeError: `start_dim` is after `end_dim`.
        IndexingError: a dimension is out of range.
    """
    start, end = normalize_dim(start_dim, input.ndim), normalize_dim(end_dim, input.ndim)
    if start > end:
        raise ShapeError(
            f"flatten() needs start_dim <= end_dim; {start_dim} and {end_dim} were given."
        )
    if start == end and input.ndim:
        return input
    merged = size_of(input.shape[start : end + 1])
    return reshaped(input, (*input.shape[:start], merged, *input.shape[end + 1 :]))


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Return a view expanded to the shape of another tensor.

    Raises:
        ShapeError: this shape cannot be expanded to that of `other`.
    """
    require_tensors("expand_as", other)
    return self.expand(other.shape)


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """Return a view in the shape of another tensor.

    Raises:
        ShapeError: the numbers of elements differ, or no strides can address that shape.
    """
    require_tensors("view_as", other)
    return self.view(other.shape)


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the same elements in the shape of another tensor, copying only if necessary.

    Raises:
        ShapeError: the numbers of elements differ.
    """
    require_tensors("reshape_as", other)
    return self.reshape(other.shape)
