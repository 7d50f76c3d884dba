"""Transposes, flips, rotations, slices, and matrices with given diagonals."""

from __future__ import annotations

from typing import Any

from mt_tensor.checks import check_dimensions, existing_dim, validate_call
from mt_tensor.core.arguments import as_integer, as_integers
from mt_tensor.core.strides import normalize_dim, normalize_dims
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.movement.copying import copy_if_aliased
from mt_tensor.movement.diagonals import OnDiagonal, diag


@validate_call
def t(input: Tensor) -> Tensor:
    """Return a view of the transpose of a matrix; tensors with fewer dimensions are unchanged.

    Raises:
        ShapeError: there are more than two dimensions.
    """
    if input.ndim > 2:
        raise ShapeError(
            f"t() takes tensors of at most two dimensions; shape {input.shape} was given. Swap "
            "two dimensions with transpose(), or the last two with mT."
        )
    return input.T


@validate_call
def adjoint(input: Tensor) -> Tensor:
    """Return a view with the last two dimensions swapped: the adjoint, since elements are real.

    Raises:
        ShapeError: there are fewer than two dimensions.
    """
    check_dimensions("adjoint", 2, input)
    return input.mT


@validate_call
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a view of `length` slices along `dim`; a negative `start` counts from the end.

    Raises:
        IndexingError: `dim` is out of range, the range is not inside it, or `input` is 0-D.
    """
    d = existing_dim("narrow", dim, input.shape)
    start = as_integer("narrow(): start", start)
    length = as_integer("narrow(): length", length)
    if -input.shape[d] <= start < 0:
        start += input.shape[d]
    if start < 0 or length < 0 or start + length > input.shape[d]:
        raise IndexingError(
            f"narrow() with start={start} and length={length} is out of range for dimension {dim} "
            f"of size {input.shape[d]}."
        )
    return input[(slice(None),) * d + (slice(start, start + length),)]


@validate_call
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return a view of the slice at an index along a dimension, which is dropped.

    Raises:
        IndexingError: the dimension or index is out of range, or `input` is 0-D.
        TypeError: `index` is not an integer.
    """
    dim = existing_dim("select", dim, input.shape)
    return input[(slice(None),) * dim + (as_integer("select(): index", index),)]


@validate_call
def ravel(input: Tensor) -> Tensor:
    """Flatten to one dimension, copying only if necessary."""
    return input.reshape(-1).contiguous()


def flip(self: Tensor, *axes: Any, dims: Any = None) -> Tensor:
    """Return a copy with the order of elements reversed along dimensions.

    Raises:
        IndexingError: a dimension is out of range or repeated.
    """
    reverse = normalize_dims(as_integers(axes, dims), self.ndim)
    steps = tuple(slice(None, None, -1 if d in reverse else 1) for d in range(self.ndim))
    return self[steps].clone()


@validate_call
def fliplr(input: Tensor) -> Tensor:
    """Return a copy with the columns, dimension 1, in reverse order.

    Raises:
        ShapeError: there are fewer than two dimensions.
    """
    check_dimensions("fliplr", 2, input)
    return input.flip(1)


@validate_call
def flipud(input: Tensor) -> Tensor:
    """Return a copy with the rows, dimension 0, in reverse order.

    Raises:
        ShapeError: there are no dimensions.
    """
    check_dimensions("flipud", 1, input)
    return input.flip(0)


@validate_call
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Return a copy rotated by `k` times 90 degrees, from the first of `dims` to the second.

    Args:
        input: at least two dimensions.
        k: the number of rotations; negative in the other direction.
        dims: the two dimensions of the plane.

    Raises:
        ShapeError: there are fewer than two dimensions, or `dims` does not name two.
        IndexingError: a dimension is out of range or repeated.
    """
    check_dimensions("rot90", 2, input)
    k, named = as_integer("rot90(): k", k), as_integers((dims,))
    if len(named) != 2:
        raise ShapeError(f"rot90() needs two dimensions; dims={named} was given.")
    first, second = normalize_dims(named, input.ndim)
    rotated = input
    if k % 4 in (1, 2):
        rotated = rotated.flip(second)
    if k % 4 in (2, 3):
        rotated = rotated.flip(first)
    return copy_if_aliased(rotated.transpose(first, second) if k % 2 else rotated, input)


@validate_call
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices with the vectors along the last dimension of `input` on their diagonals.

    Args:
        input: at least one dimension.
        offset: the diagonal: 0 for the main one, positive above it, negative below.
        dim1: the dimension of rows in the result.
        dim2: the dimension of columns in the result.

    Raises:
        IndexingError: a dimension is out of range, or both are the same.
    """
    existing_dim("diag_embed", -1, input.shape)
    offset = as_integer("diag_embed(): offset", offset)
    first, second = (normalize_dim(dim, input.ndim + 1) for dim in (dim1, dim2))
    if first == second:
        raise IndexingError(f"diag_embed() needs two dimensions; {dim1} and {dim2} are the same.")
    shape = list(input.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, input.shape[-1] + abs(offset))
    return OnDiagonal.apply(input, tuple(shape), offset, first, second)


@validate_call
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return a matrix with all elements of `input` on a diagonal.

    `offset` is 0 for the main diagonal, positive above it, negative below.
    """
    return diag(input.reshape(-1), as_integer("diagflat(): offset", offset))
