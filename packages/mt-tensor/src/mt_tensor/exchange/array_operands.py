"""NumPy arrays as operands of Python operators on tensors, as in torch.

With an array on the right of a tensor, NumPy computes the operator with its own promotion, and the
result becomes a tensor (`Tensor.__array_wrap__`). It is not recorded, so it is an error if the
tensor requires grad. An array on the left is an error, except as a dividend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_operators import Operator
from mt_tensor.core.elementwise import OPERATIONS
from mt_tensor.core.extensions import extends
from mt_tensor.core.tensor import Tensor

_FIX = "convert the array first, as in mt_tensor.from_numpy(array)"


@extends("array on the right")
def on_array(self: Tensor, operator: Operator, other: Any) -> Any:
    """Apply an operator to this tensor and a right operand that is neither tensor nor number.

    Returns:
        A bool tensor for a comparison for equality with an array; otherwise NotImplemented, so that
        Python tries the operator of NumPy.

    Raises:
        TypeError: the operator is another comparison with an array.
    """
    if operator.result != "bool" or not isinstance(other, np.ndarray):
        return NotImplemented
    if operator.name in ("eq", "ne"):
        return OPERATIONS[operator.name](self, self._uploaded(np.array(other)))
    raise TypeError(f"{operator.name}() of a tensor and a NumPy array is not defined: {_FIX}.")


@extends("array on the left")
def on_array_at_left(self: Tensor, operator: Operator, other: Any) -> Any:
    """Apply an operator to this tensor and a left operand that is neither tensor nor number.

    Raises:
        TypeError: the operand is an array, and the operator is not division.
    """
    if not isinstance(other, np.ndarray):
        return NotImplemented
    if operator.name == "div":
        return np.true_divide(other, self)
    raise _array_on_left(operator.name)


def __rmatmul__(self: Tensor, other: Any) -> Tensor:  # noqa: ARG001 - no type is supported
    raise _array_on_left("matmul")


def _array_on_left(name: str) -> TypeError:
    """Return the error for an array on the left of a tensor."""
    return TypeError(f"{name}() does not take a NumPy array on the left of a tensor: {_FIX}.")
