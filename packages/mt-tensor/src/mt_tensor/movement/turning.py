"""Transposes, mirrors and quarter turns, slices, and diagonals made of rows."""

from __future__ import annotations

from typing import Any

from mt_tensor.checks import existing_dim, validate_call
from mt_tensor.core.arguments import as_integer, as_integers
from mt_tensor.core.strides import normalize_dim, normalize_dims
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.movement.apart import apart
from mt_tensor.movement.diagonals import OnDiagonal, diag


def check_dimensions(name: str, ndim: int, input: Tensor) -> None:
    """Raise unless something is a tensor of at least so many dimensions."""
    if input.ndim < ndim:
        raise ShapeError(
            f"{name}() needs at least {ndim} dimension(s); shape {input.shape} was given."
        )


@validate_call
def t(input: Tensor) -> Tensor:
    """Return the transpose of a matrix as a view; what has fewer dimensions as it is.

    Raises:
        ShapeError: there are more than two dimensions.
    """
    if input.ndim > 2:
        raise ShapeError(
            f"t() takes tensors of up to two dimensions; shape {input.shape} was given. Exchange "
            "two of them with transpose(), or the last two with mT."
        )
    return input.T


@validate_call
def adjoint(input: Tensor) -> Tensor:
    """Return the view with the last two dimensions exchanged: of real numbers, the adjoint.

    Raises:
        ShapeError: there are fewer than two dimensions.
    """
    check_dimensions("adjoint", 2, input)
    return input.mT


@validate_call
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a view of `length` elements along `dim`; `start` may count from the end.

    Raises:
        IndexingError: it would reach beyond the tensor.
    """
    d = existing_dim("narrow", dim, input.shape)
    start, length = as_integer("start", start), as_integer("length", length)
    if -input.shape[d] <= start < 0:
        start += input.shape[d]
    if start < 0 or length < 0 or start + length > input.shape[d]:
        raise IndexingError(
            f"narrow() of {length} element(s) from {start} on does not lie in dimension "
            f"{dim} with {input.shape[d]}."
        )
    return input[(slice(None),) * d + (slice(start, start + length),)]


@validate_call
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return the slice at one index along a dimension, which is dropped, as a view.

    Raises:
        IndexingError: there is no such dimension or index.
        TypeError: `index` is no integer.
    """
    dim = existing_dim("select", dim, input.shape)
    return input[(slice(None),) * dim + (as_integer("index", index),)]


@validate_call
def ravel(input: Tensor) -> Tensor:
    """Return all elements in one dimension, copying only if it must be."""
    return input.reshape(-1).contiguous()


def flip(self: Tensor, *axes: Any, dims: Any = None) -> Tensor:
    """Return a copy with the order of elements reversed in some dimensions."""
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
    """Return a copy turned by quarter turns, from the first of two dimensions to the second.

    Args:
        input: at least two dimensions.
        k: how many quarter turns; negative the other way round.
        dims: the plane: two dimensions.

    Raises:
        ShapeError: there are fewer than two dimensions, or `dims` does not name two.
        IndexingError: a dimension does not exist, or is named twice.
    """
    check_dimensions("rot90", 2, input)
    k, named = as_integer("k", k), as_integers((dims,))
    if len(named) != 2:
        raise ShapeError(f"rot90() turns in the plane of two dimensions; {named} was given.")
    first, second = normalize_dims(named, input.ndim)
    turned = input
    if k % 4 in (1, 2):
        turned = turned.flip(second)
    if k % 4 in (2, 3):
        turned = turned.flip(first)
    return apart(turned.transpose(first, second) if k % 2 else turned, input)


@validate_call
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices whose diagonals are the rows, along the last dimension, of `input`.

    Args:
        input: at least one dimension.
        offset: how far to the right of the main diagonal they stand; negative below it.
        dim1: the dimension of the result that counts rows.
        dim2: the one that counts columns.

    Raises:
        IndexingError: a dimension does not exist, or both are the same.
    """
    existing_dim("diag_embed", -1, input.shape)
    offset = as_integer("offset", offset)
    first, second = (normalize_dim(dim, input.ndim + 1) for dim in (dim1, dim2))
    if first == second:
        raise IndexingError(f"diag_embed() needs two dimensions; {dim1} and {dim2} are the same.")
    shape = list(input.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, input.shape[-1] + abs(offset))
    return OnDiagonal.apply(input, tuple(shape), offset, first, second)


@validate_call
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return the matrix with all elements of `input` on a diagonal."""
    return diag(input.reshape(-1), offset)
