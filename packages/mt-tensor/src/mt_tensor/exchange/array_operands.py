"""NumPy's arrays beside tensors as operands of Python's operators, as in torch.

On the right of a tensor the operator is NumPy's, with NumPy's promotion, and the result becomes a
tensor (`Tensor.__array_wrap__`); nothing of it is recorded, so a tensor that requires grad refuses
it. On the left of a tensor an array is refused, except as a dividend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_operators import Operator
from mt_tensor.core.elementwise import OPERATIONS
from mt_tensor.core.extensions import extends
from mt_tensor.core.tensor import Tensor

_FIX = "make it a tensor first, as in mt_tensor.from_numpy(array)"


@extends("array on the right")
def on_array(self: Tensor, operator: Operator, other: Any) -> Any:
    """Return what this tensor and, on its right, what is neither tensor nor number give.

    Returns:
        A tensor of bool where they are compared for equality; else NotImplemented, after
        which Python asks NumPy.

    Raises:
        TypeError: an array is compared in another way.
    """
    if operator.result != "bool" or not isinstance(other, np.ndarray):
        return NotImplemented
    if operator.name in ("eq", "ne"):
        return OPERATIONS[operator.name](self, self._uploaded(np.array(other)))
    raise TypeError(f"{operator.name}() of a tensor and an array of NumPy is not defined: {_FIX}.")


@extends("array on the left")
def on_array_at_left(self: Tensor, operator: Operator, other: Any) -> Any:
    """Return what this tensor and, on its left, what is neither tensor nor number give.

    Raises:
        TypeError: it is an array, and no dividend.
    """
    if not isinstance(other, np.ndarray):
        return NotImplemented
    if operator.name == "div":
        return np.true_divide(other, self)
    raise _refused(operator.name)


def __rmatmul__(self: Tensor, other: Any) -> Tensor:  # noqa: ARG001 - whatever they are
    raise _refused("matmul")


def _refused(name: str) -> TypeError:
    """Return the error for an array on the left of a tensor."""
    return TypeError(f"{name}() takes no array of NumPy on the left of a tensor: {_FIX}.")
