"""What operations that select elements have in common: values, and the indices they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mt_tensor.indexing.gathering import Gather

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


class ValuesAndIndices(NamedTuple):
    """Elements of a tensor, and where along the dimension they were found."""

    values: Tensor
    indices: Tensor


class MinMax(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor


def take_along(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements at valid indices along `dim`, to which the gradient then goes."""
    return Gather.apply(x, dim, index) if x.ndim else x.clone()
