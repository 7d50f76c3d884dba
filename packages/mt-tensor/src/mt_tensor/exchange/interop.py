"""The memory that a tensor's elements lie in, as Python and NumPy see it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.core.dtypes import Array, as_number, bfloat16
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import ExchangeError
from mt_tensor.exchange.sharing import CUDA, SharedMemory
from mt_tensor.tape import refuse_to_capture


def on_host(x: Tensor) -> bool:
    """Whether the elements lie in an array, which others can share."""
    return isinstance(x._tensor.storage, np.ndarray)


def shared_elements(x: Tensor, what: str) -> TensorData:
    """Return the elements, if they lie in an array that others can share.

    Raises:
        ExchangeError: they lie elsewhere.
    """
    if not on_host(x):
        raise ExchangeError(
            f"{what} needs elements in the memory of this machine; those of backend "
            f"{x.backend.name!r} are elsewhere. Copy them, as in x.to('numpy')."
        )
    return x._tensor


def first_address(x: Tensor) -> int:
    """Return the address of the first element.

    Raises:
        ExchangeError: others do not reach it.
    """
    memory: SharedMemory | None = x.backend.shared_memory()
    start: int = (
        shared_elements(x, "data_ptr()").storage.ctypes.data
        if memory is None
        else memory.address(x._tensor.storage)
    )
    return start + x.storage_offset() * x.dtype.itemsize


def __contains__(self: Tensor, element: Any) -> bool:
    """Whether any element equals a number, or one of a tensor that is broadcast."""
    if not isinstance(element, Tensor):
        element = as_number("an element", element)
    return bool((self == element).any().item())


def element_size(self: Tensor) -> int:
    """Return the number of bytes of one element."""
    return self.dtype.itemsize


def nbytes(self: Tensor) -> int:
    """The number of bytes of all elements, those that strides repeat counted again."""
    return self.numel() * self.dtype.itemsize


def data_ptr(self: Tensor) -> int:
    """Return the address of the first element, on its device; 0 if there is none.

    Raises:
        ExchangeError: others do not reach the elements.
    """
    refuse_to_capture("looks at where in memory elements lie")
    return first_address(self) if self.numel() else 0


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    """Let NumPy read the elements.

    Raises:
        NoGradientError: the tensor records.
        ExchangeError: `copy` is False, but the elements are not in this machine's memory.
        ValueError: `copy` is False, but the elements have to be converted.
    """
    array = self.numpy()
    if copy is False:
        shared_elements(self, "an array without a copy")
    return np.array(array, dtype=dtype, copy=copy)


def __array_wrap__(
    self: Tensor,
    array: Array,
    context: Any = None,  # noqa: ARG001 - NumPy hands over more than is needed
    return_scalar: bool = False,  # noqa: ARG001
) -> Tensor:
    """Let what a function of NumPy computes of a tensor become one, on the same backend.

    Raises:
        DTypeError: tensors have no such elements.
    """
    return self._uploaded(np.asarray(array))


def __array_interface__(self: Tensor) -> dict[str, Any]:
    """Where the elements lie; only there if they can be shared."""
    if self.requires_grad or not on_host(self) or self.dtype is bfloat16:
        raise AttributeError("__array_interface__")  # NumPy then asks __array__, which says why
    return self.backend.to_host(self._tensor).__array_interface__


def __cuda_array_interface__(self: Tensor) -> dict[str, Any]:
    """Where the elements lie on an NVIDIA GPU, in version 3; only there if they do.

    Raises:
        ExchangeError: the tensor records.
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
