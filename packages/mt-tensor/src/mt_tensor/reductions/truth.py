"""Logical reductions: all, any, and the number of nonzero elements."""

from __future__ import annotations

from mt_tensor.checks import validate_call
from mt_tensor.core.dtypes import bool_, uint8
from mt_tensor.core.sums import Dims, checked_dims, fold, sum
from mt_tensor.core.tensor import Tensor


def _logical(name: str, x: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    dims = checked_dims(dim, x.ndim, keepdim)
    out = fold(name, _nonzero(x), dims, keepdim)
    # as in torch, which used uint8 before it had bool
    return out.to(uint8) if x.dtype is uint8 else out


def _nonzero(x: Tensor) -> Tensor:
    return x if x.dtype is bool_ else x.ne(0)


@validate_call
def all(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return whether all elements along dimensions are nonzero, as bool; for uint8, as uint8.

    Args:
        input: a tensor.
        dim: one dimension or several; None for all, () for none.
        keepdim: whether to keep the reduced dimensions, with size 1.

    Raises:
        IndexingError: a dimension is out of range or repeated.
    """
    return _logical("logical_and", input, dim, keepdim)


@validate_call
def any(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return whether any element along dimensions is nonzero; arguments as for `all`."""
    return _logical("logical_or", input, dim, keepdim)


@validate_call
def count_nonzero(input: Tensor, dim: Dims = None) -> Tensor:
    """Return the number of nonzero elements along dimensions, as int64.

    Args:
        input: a tensor.
        dim: one dimension or several; None and () for all.

    Raises:
        IndexingError: a dimension is out of range or repeated.
    """
    return sum(_nonzero(input), dim)
