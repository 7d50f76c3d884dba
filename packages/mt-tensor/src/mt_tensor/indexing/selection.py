"""The result of operations that select elements, such as `max` and `sort`: values and indices."""

from __future__ import annotations

from typing import NamedTuple

from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import squeeze_dims
from mt_tensor.indexing.slices import gather_unchecked


class ValuesAndIndices(NamedTuple):
    """Selected elements of a tensor, and their indices along a dimension."""

    values: Tensor
    indices: Tensor


def selected(x: Tensor, dim: int, index: Tensor, keepdim: bool = True) -> ValuesAndIndices:
    """Return the elements of `x` at valid indices along `dim`, which is dropped or kept."""
    found = ValuesAndIndices(gather_unchecked(x, dim, index), index)
    return found if keepdim else ValuesAndIndices(*[squeeze_dims(each, (dim,)) for each in found])
