"""Tensors to and from elsewhere: Python numbers, NumPy, DLPack, copies and pickles."""

from __future__ import annotations

import builtins
import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from mt_autodiff import NoGradientError
from mt_tensor.arguments import check_flags
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import Array, as_number
from mt_tensor.errors import ExchangeError, ShapeError
from mt_tensor.public import attribute, method
from mt_tensor.tensor import Tensor

Some = TypeVar("Some", bound=Tensor)

CPU = 1
"""DLPack's number for the memory of this machine."""

VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
"""Whether NumPy's arrays are offered in a version of DLPack that can tell what is read-only."""

TAKES_WRITABLE = np.lib.NumpyVersion(np.__version__) >= "2.2.5"
"""Whether what NumPy takes by DLPack can be written to; before, it marks all of it as read-only."""


def taken(array: Any) -> Array:
    """Return another library's array as one of NumPy's over the same memory, by DLPack.

    Raises:
        BufferError: its owner does not share it.
    """
    if TAKES_WRITABLE:
        return np.from_dlpack(array)
    return np.asarray(_Writable(np.from_dlpack(_Unversioned(array))))


class _Unversioned:
    """An array that is offered without a version of DLPack, if others may write to it at all."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__()


class _Writable:
    """The memory of an array, to be written to although the array does not say so."""

    def __init__(self, array: Array) -> None:
        self.array = array  # which owns the memory
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def restored(
    cls: type[Any],
    elements: Array,
    backend: TensorBackend,
    requires_grad: bool,
    grad: Tensor | None,
) -> Any:
    """Return the leaf that was copied or pickled."""
    made = Tensor._make(backend.from_host(elements), backend)
    return _leaf(cls, made, requires_grad, grad)


def _leaf(cls: type[Any], elements: Tensor, requires_grad: bool, grad: Tensor | None) -> Any:
    leaf = object.__new__(cls)
    leaf._become(elements)
    leaf._requires_grad = requires_grad
    leaf._grad = grad
    return leaf


@method
def _check_leaf(self: Tensor) -> None:
    if self.history is not None:
        raise NoGradientError(
            "a tensor that was computed from others cannot be copied or pickled with its "
            "history: use x.detach()."
        )


@method
def __copy__(self: Some) -> Some:
    """Return a leaf of the same class with the same memory and gradient.

    Raises:
        NoGradientError: the tensor was computed, so that a copy would lose its history.
    """
    self._check_leaf()
    twin: Some = _leaf(type(self), self.detach(), self.requires_grad, self.grad)
    return twin


@method
def __deepcopy__(self: Some, memo: dict[int, Any]) -> Some:
    """Return a leaf of the same class, with copies of the elements and of the gradient.

    Raises:
        NoGradientError: the tensor was computed, so that a copy would lose its history.
    """
    restore, state = self.__reduce__()
    copied: Some = restore(*state[:-1], copy.deepcopy(self.grad, memo))
    memo[id(self)] = copied
    return copied


@method
def __reduce__(self: Tensor) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Pickle elements and gradient; the backend goes by its name.

    Raises:
        NoGradientError: the tensor was computed, so that it would lose its history.
    """
    self._check_leaf()
    elements = np.array(self.backend.to_host(self._tensor))
    return restored, (type(self), elements, self.backend, self.requires_grad, self._grad)


@method
def item(self: Tensor) -> Any:
    """Return the only element as a Python number.

    Raises:
        ShapeError: there is not exactly one.
    """
    if self._tensor.size != 1:
        raise ShapeError(
            f"item() needs exactly one element; shape {self.shape} has {self.numel()}."
        )
    return self.backend.to_host(self._tensor).item()


@method
def tolist(self: Tensor) -> Any:
    """Return the elements as nested lists of Python numbers."""
    return self.backend.to_host(self._tensor).tolist()


@method
def __contains__(self: Tensor, element: Any) -> builtins.bool:
    """Whether any element equals a number, or one of a tensor that is broadcast."""
    if not isinstance(element, Tensor):
        element = as_number("an element", element)
    return builtins.bool((self == element).any().item())


@attribute
def itemsize(self: Tensor) -> int:
    """The number of bytes of one element."""
    return self.dtype.itemsize


@method
def element_size(self: Tensor) -> int:
    """Return the number of bytes of one element."""
    return self.dtype.itemsize


@attribute
def nbytes(self: Tensor) -> int:
    """The number of bytes of all elements, those that strides repeat counted again."""
    return self.numel() * self.dtype.itemsize


@method
def data_ptr(self: Tensor) -> int:
    """Return the address of the first element; 0 if there is none.

    Raises:
        ExchangeError: the backend does not keep the elements in NumPy arrays.
    """
    if self.numel() == 0:
        return 0
    first: int = self._shared("data_ptr()").storage.ctypes.data
    return first + self.storage_offset() * self.dtype.itemsize


@method
def _is_on_host(self: Tensor) -> builtins.bool:
    return isinstance(self._tensor.storage, np.ndarray)


@method
def _shared(self: Tensor, what: str) -> Any:
    """Return the elements, if they lie in an array that others can share.

    Raises:
        ExchangeError: they lie elsewhere.
    """
    if not self._is_on_host():
        raise ExchangeError(
            f"{what} needs elements in the memory of this machine; those of backend "
            f"{self.backend.name!r} are elsewhere. Copy them, as in x.to('numpy')."
        )
    return self._tensor


@method
def numpy(self: Tensor, *, force: builtins.bool = False) -> Array:
    """Return the elements as a NumPy array, sharing memory where the backend allows it.

    Args:
        self: the tensor.
        force: whether to leave out the history of a tensor that requires grad.

    Raises:
        NoGradientError: the tensor records; use `x.detach().numpy()`.
    """
    if force is not False:
        check_flags(force=force)
    if self.requires_grad and not force:
        raise NoGradientError(
            "numpy() of a tensor that requires grad would lose its history: use x.detach().numpy()."
        )
    return self.backend.to_host(self._tensor)


@method
def __array__(self: Tensor, dtype: Any = None, copy: builtins.bool | None = None) -> Array:
    """Let NumPy read the elements.

    Raises:
        NoGradientError: the tensor records.
        ExchangeError: `copy` is False, but the elements are not in this machine's memory.
        ValueError: `copy` is False, but the elements have to be converted.
    """
    array = self.numpy()
    if copy is False:
        self._shared("an array without a copy")
    return np.array(array, dtype=dtype, copy=copy)


@method
def __array_wrap__(
    self: Tensor,
    array: Array,
    context: Any = None,  # noqa: ARG001 - NumPy hands over more than is needed
    return_scalar: builtins.bool = False,  # noqa: ARG001
) -> Tensor:
    """Let what a function of NumPy computes of a tensor become one, on the same backend.

    Raises:
        DTypeError: tensors have no such elements.
    """
    return self._uploaded(np.asarray(array))


@attribute
def __array_interface__(self: Tensor) -> dict[str, Any]:
    """Where the elements lie; only there if they can be shared."""
    if self.requires_grad or not self._is_on_host():
        raise AttributeError("__array_interface__")  # NumPy then asks __array__, which says why
    return self.backend.to_host(self._tensor).__array_interface__


@method
def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Return DLPack's numbers for the memory of this machine.

    Raises:
        ExchangeError: the elements are elsewhere.
    """
    self._shared("DLPack")
    return CPU, 0


@method
def __dlpack__(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: builtins.bool | None = None,
) -> Any:
    """Return a capsule through which another library shares the elements.

    Raises:
        ExchangeError: the tensor records, its elements are not in this machine's memory or are
            wanted elsewhere, or a stride is negative, which not all libraries survive.
    """
    if self.requires_grad:
        raise ExchangeError(
            "a tensor that requires grad would lose its history: export x.detach()."
        )
    self._shared("DLPack")
    if stream is not None:
        raise ExchangeError(f"this machine's memory has no streams; {stream!r} was given.")
    if any(stride < 0 for stride in self.stride()):
        raise ExchangeError("a tensor with negative strides is not exported: clone() it first.")
    if dl_device not in {None, (CPU, 0)}:
        raise ExchangeError(
            f"the elements cannot be exported to DLPack device {dl_device}: they are in this "
            f"machine's memory, which is ({CPU}, 0)."
        )
    array = self.backend.to_host(self._tensor)
    if copy:
        array = array.copy()
    # A capsule without a version is what a consumer has to expect of an older producer.
    options: dict[str, Any] = {"max_version": max_version} if VERSIONED else {}
    try:
        return array.__dlpack__(**options)
    except BufferError as error:
        raise ExchangeError(f"the elements cannot be exported: {error}.") from error
