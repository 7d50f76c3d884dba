"""What operations that select elements return: values, and the indices they come from."""

from __future__ import annotations

from typing import NamedTuple

from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import squeeze_dims
from mt_tensor.indexing.slices import gather_unchecked


class ValuesAndIndices(NamedTuple):
    """Elements of a tensor, and where along the dimension they were found."""

    values: Tensor
    indices: Tensor


def selected(x: Tensor, dim: int, index: Tensor, keepdim: bool = True) -> ValuesAndIndices:
    """Return the elements of `x` at valid indices along `dim`, which is dropped unless it stays."""
    found = ValuesAndIndices(gather_unchecked(x, dim, index), index)
    return found if keepdim else ValuesAndIndices(*[squeeze_dims(each, (dim,)) for each in found])
