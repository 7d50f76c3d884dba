"""What operations that select elements return: values, and the indices they come from."""

from __future__ import annotations

from typing import NamedTuple

from mt_tensor.core.tensor import Tensor


class ValuesAndIndices(NamedTuple):
    """Elements of a tensor, and where along the dimension they were found."""

    values: Tensor
    indices: Tensor
