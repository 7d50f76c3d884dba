"""Python functions called on each element, in place: slow, and without gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mt_tensor.checks import check_same_dtype
from mt_tensor.core.casting import element
from mt_tensor.core.dtypes import as_number
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import InPlaceError


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what a function makes of it, and return self.

    Args:
        self: the tensor.
        callable: takes a Python number and returns one, which is stored in this dtype.

    Raises:
        InPlaceError: this tensor requires grad, which cannot follow the function.
        TypeError: the function returns no number.
        DTypeError: a number does not fit the dtype.
    """
    return self._stored("apply_", map(callable, self.flatten().tolist()))


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by what a function makes of it and that of a tensor; return self.

    Args:
        self: the tensor.
        tensor: of this dtype; it is broadcast to this shape.
        callable: takes two Python numbers and returns one, which is stored in this dtype.

    Raises:
        InPlaceError: this tensor requires grad, which cannot follow the function.
        TypeError: the function returns no number.
        DTypeError: `tensor` has another dtype, or a number does not fit it.
        ShapeError: `tensor` does not broadcast to this shape.
    """
    require_tensors("map_", tensor)
    common_backend(self, tensor)
    check_same_dtype("map_", self, tensor)
    others = tensor.expand(self.shape).flatten().tolist()
    return self._stored("map_", map(callable, self.flatten().tolist(), others))


def _stored(self: Tensor, name: str, numbers: Iterable[Any]) -> Tensor:
    """Store numbers, row by row."""
    if self.requires_grad:
        raise InPlaceError(
            f"{name}() cannot be differentiated, but this tensor requires grad: call it on "
            "x.detach()."
        )
    values = [as_number(f"what the function of {name}() returns", x) for x in numbers]
    elements = [element(self.dtype.checked(value), self.dtype) for value in values]
    array = np.array(elements, self.dtype.numpy)
    self.copy_(self._uploaded(array.reshape(self.shape)))
    return self
