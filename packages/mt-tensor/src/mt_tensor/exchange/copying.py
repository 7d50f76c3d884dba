"""Support for `copy` and `pickle`, for leaves."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from mt_autodiff import NoGradientError
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import Array
from mt_tensor.core.layout import row_major
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData

Some = TypeVar("Some", bound=Tensor)


def restored(
    cls: type[Any],
    elements: Array,
    backend: TensorBackend,
    requires_grad: bool,
    grad: Tensor | None,
) -> Any:
    """Recreate a leaf that was pickled."""
    return _leaf(cls, Tensor._make(backend.from_host(elements), backend), requires_grad, grad)


def _leaf(cls: type[Any], elements: Tensor, requires_grad: bool, grad: Tensor | None) -> Any:
    leaf = object.__new__(cls)
    leaf._become(elements)
    leaf._requires_grad = requires_grad
    leaf._grad = grad
    return leaf


def _check_leaf(x: Tensor) -> None:
    if x.history is not None:
        raise NoGradientError(
            "only leaves can be copied or pickled, and this tensor was computed from others: use "
            "x.detach()."
        )


def __copy__(self: Some) -> Some:
    """Return a leaf of the same class with the same memory and gradient.

    Raises:
        NoGradientError: the tensor is not a leaf.
    """
    _check_leaf(self)
    return _leaf(type(self), self.detach(), self.requires_grad, self.grad)  # type: ignore[no-any-return]


def __deepcopy__(self: Some, memo: dict[int, Any]) -> Some:
    """Return a leaf of the same class, with copies of the memory and of the gradient.

    As in torch, copies of tensors that share memory share memory. Parameters, and tensors on a
    backend whose storages have no `nbytes`, are copied separately.

    Raises:
        NoGradientError: the tensor is not a leaf.
    """
    _check_leaf(self)
    if type(self) is Tensor and hasattr(self._tensor.storage, "nbytes"):
        data = _copied_storage(self, memo).with_layout(self._tensor.layout)
    else:
        data = self.backend.copy(self._tensor, self._tensor.layout.contiguous)
    gradient = copy.deepcopy(self.grad, memo)
    copied: Some = _leaf(type(self), self._with(data), self.requires_grad, gradient)
    memo[id(self)] = copied
    if type(self) is Tensor:
        vars(copied).update(copy.deepcopy(vars(self), memo))
    return copied


def _copied_storage(x: Tensor, memo: dict[int, Any]) -> TensorData:
    """Return a copy of the storage of a tensor, the same copy for each of its views."""
    storage, dtype = x._tensor.storage, x.dtype
    if id(storage) not in memo:
        flat = row_major((storage.nbytes // dtype.itemsize,), dtype)
        memo[id(storage)] = x.backend.copy(x._tensor.with_layout(flat), flat)
    return memo[id(storage)]  # type: ignore[no-any-return]


def __reduce__(self: Tensor) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any] | None]:
    """Pickle the elements, the gradient, the name of the backend and further attributes.

    Raises:
        NoGradientError: the tensor is not a leaf.
    """
    _check_leaf(self)
    elements = np.array(self.backend.to_host(self._tensor))
    values = (type(self), elements, self.backend, self.requires_grad, self._grad)
    return restored, values, vars(self) or None
