"""Functions of the module `torch` that have another form here."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn import functional
from mt_tensor import Tensor, from_numpy
from mt_tensor.extending import as_dtype


def fill(input: Tensor, value: Any) -> Tensor:
    """Return a copy of a tensor filled with a number."""
    return input.clone().fill_(value)


def embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, *settings: bool) -> Tensor:
    """Return rows of a table; unlike `torch.nn.functional.embedding`, it takes the table first."""
    padding = None if padding_idx < 0 else padding_idx
    return functional.embedding(indices, weight, padding, None, 2.0, *settings)


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Return a one-dimensional tensor over the memory of a buffer, as `np.frombuffer` does."""
    array = np.frombuffer(buffer, as_dtype(dtype).numpy, count, offset)
    return from_numpy(array).requires_grad_(requires_grad)


def relu_(input: Tensor) -> Tensor:
    """Replace negative elements by 0 in place, and return the tensor."""
    return input.relu_()
