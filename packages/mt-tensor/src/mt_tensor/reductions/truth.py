"""Whether elements are non-zero: all of them, any of them, and how many."""

from __future__ import annotations

from mt_tensor.checks import validate_call
from mt_tensor.core.dtypes import bool_, uint8
from mt_tensor.core.sums import Dims, fold, named_dims, sum
from mt_tensor.core.tensor import Tensor


def _logical(name: str, x: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    dims = named_dims(dim, x.ndim, keepdim)
    out = fold(name, _nonzero(x), dims, keepdim)
    # torch, before it had bool, used uint8 for truth values
    return out.to(uint8) if x.dtype is uint8 else out


def _nonzero(x: Tensor) -> Tensor:
    return x if x.dtype is bool_ else x.ne(0)


@validate_call
def all(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return whether all elements over dimensions are non-zero: as bool, but uint8 of uint8.

    Args:
        input: a tensor.
        dim: one dimension or several; None for all of them, () for none of them.
        keepdim: whether they stay, with size 1.

    Raises:
        IndexingError: a dimension does not exist or is named twice.
    """
    return _logical("logical_and", input, dim, keepdim)


@validate_call
def any(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return whether any element over dimensions is non-zero; arguments are those of `all`."""
    return _logical("logical_or", input, dim, keepdim)


@validate_call
def count_nonzero(input: Tensor, dim: Dims = None) -> Tensor:
    """Return the number of non-zero elements over dimensions, as int64.

    Args:
        input: a tensor.
        dim: one dimension or several; None and () for all.

    Raises:
        IndexingError: a dimension does not exist or is named twice.
    """
    return sum(_nonzero(input), dim)
