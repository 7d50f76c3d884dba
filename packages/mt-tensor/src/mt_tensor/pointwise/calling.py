"""Apply Python functions to each element in place; slow, and not differentiable."""

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
    """Replace each element `x` by `callable(x)`, and return self.

    Args:
        self: the tensor.
        callable: takes a Python number and returns one, which is converted to this dtype.

    Raises:
        InPlaceError: this tensor requires grad, or some of its elements share memory.
        TypeError: the function does not return a number.
        DTypeError: a number is out of the range of the dtype.
    """
    return _store_numbers(self, "apply_", map(callable, self.flatten().tolist()))


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element `x` by `callable(x, y)` with the element `y` of a tensor; return self.

    Args:
        self: the tensor.
        tensor: a tensor of this dtype that broadcasts to this shape.
        callable: takes two Python numbers and returns one, which is converted to this dtype.

    Raises:
        InPlaceError: this tensor requires grad, or some of its elements share memory.
        TypeError: the function does not return a number.
        DTypeError: `tensor` has another dtype, or a number is out of its range.
        ShapeError: `tensor` does not broadcast to this shape.
    """
    require_tensors("map_", tensor)
    common_backend(self, tensor)
    check_same_dtype("map_", self, tensor)
    others = tensor.expand(self.shape).flatten().tolist()
    return _store_numbers(self, "map_", map(callable, self.flatten().tolist(), others))


def _store_numbers(self: Tensor, name: str, numbers: Iterable[Any]) -> Tensor:
    """Store numbers in row-major order, and return self."""
    if self.requires_grad:
        raise InPlaceError(
            f"{name}() cannot be differentiated, but this tensor requires grad: call it on "
            "x.detach()."
        )
    values = [as_number(f"the result of the function of {name}()", x) for x in numbers]
    elements = [element(self.dtype.checked(value), self.dtype) for value in values]
    array = np.array(elements, self.dtype.numpy)
    self.copy_(self._uploaded(array.reshape(self.shape)))
    return self
