"""Interoperability with NumPy and CUDA libraries: array protocols and addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.core.dtypes import Array, as_number, bfloat16
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import ExchangeError
from mt_tensor.exchange.sharing import CUDA, SharedMemory
from mt_tensor.tape import refuse_to_capture


def is_on_host(x: Tensor) -> bool:
    """Return whether the storage is a NumPy array, which other libraries can share."""
    return isinstance(x._tensor.storage, np.ndarray)


def shared_elements(x: Tensor, what: str) -> TensorData:
    """Return the tensor's data if its storage is a NumPy array.

    Raises:
        ExchangeError: the storage is not a NumPy array.
    """
    if not is_on_host(x):
        raise ExchangeError(
            f"{what} needs elements in host memory, but backend {x.backend.name!r} stores them "
            "elsewhere: copy them, as in x.to('numpy')."
        )
    return x._tensor


def first_address(x: Tensor) -> int:
    """Return the address of the first element.

    Raises:
        ExchangeError: the memory cannot be shared.
    """
    memory: SharedMemory | None = x.backend.shared_memory()
    start: int = (
        shared_elements(x, "data_ptr()").storage.ctypes.data
        if memory is None
        else memory.address(x._tensor.storage)
    )
    return start + x.storage_offset() * x.dtype.itemsize


def __contains__(self: Tensor, element: Any) -> bool:
    """Return whether any element equals a number or an element of a tensor, which is broadcast."""
    if not isinstance(element, Tensor):
        element = as_number("an element", element)
    return bool((self == element).any().item())


def element_size(self: Tensor) -> int:
    """Return the size of an element in bytes."""
    return self.dtype.itemsize


def nbytes(self: Tensor) -> int:
    """The size of all elements in bytes; expanded elements are counted repeatedly."""
    return self.numel() * self.dtype.itemsize


def data_ptr(self: Tensor) -> int:
    """Return the address of the first element in the memory of its device; 0 if there is none.

    Raises:
        ExchangeError: the memory cannot be shared.
    """
    refuse_to_capture("reads the address of elements")
    return first_address(self) if self.numel() else 0


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    """Convert to a NumPy array.

    Raises:
        NoGradientError: the tensor requires grad.
        ExchangeError: `copy` is False, but the elements are not in host memory.
        ValueError: `copy` is False, but the elements have to be converted.
    """
    array = self.numpy()
    if copy is False:
        shared_elements(self, "an array without a copy")
    return np.array(array, dtype=dtype, copy=copy)


def __array_wrap__(
    self: Tensor,
    array: Array,
    context: Any = None,  # noqa: ARG001 - part of the protocol
    return_scalar: bool = False,  # noqa: ARG001
) -> Tensor:
    """Convert the result of a NumPy function of tensors to a tensor on the same backend.

    Raises:
        DTypeError: the dtype is not supported.
    """
    return self._uploaded(np.asarray(array))


def __array_interface__(self: Tensor) -> dict[str, Any]:
    """The array interface of the elements; the attribute exists only if they can be shared."""
    if self.requires_grad or not is_on_host(self) or self.dtype is bfloat16:
        raise AttributeError("__array_interface__")  # NumPy then calls __array__
    return self.backend.to_host(self._tensor).__array_interface__


def __cuda_array_interface__(self: Tensor) -> dict[str, Any]:
    """The CUDA array interface, version 3; the attribute exists only on an NVIDIA GPU.

    Raises:
        ExchangeError: the tensor requires grad.
    """
    memory: SharedMemory | None = self.backend.shared_memory()
    if memory is None or memory.device[0] != CUDA:
        raise AttributeError("__cuda_array_interface__")
    if self.requires_grad:
        raise ExchangeError(
            "a tensor that requires grad would lose its history: export x.detach()."
        )
    return {
        "version": 3,
        "shape": tuple(self.shape),
        "strides": tuple(stride * self.itemsize for stride in self.stride()),
        "typestr": self.dtype.numpy.str,
        "data": (self.data_ptr(), False),
        "stream": memory.stream,
    }
