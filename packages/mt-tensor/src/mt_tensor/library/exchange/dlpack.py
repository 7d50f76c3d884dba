"""Memory shared with other libraries by DLPack, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.backends.devices import Backend
from mt_tensor.dtypes import Array
from mt_tensor.errors import ExchangeError
from mt_tensor.library.creation.from_arrays import from_numpy
from mt_tensor.library.exchange.interop import shared_elements
from mt_tensor.public import function, method
from mt_tensor.tensor import Tensor

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


@function
def from_dlpack(ext_tensor: Any, backend: Backend = None) -> Tensor:
    """Return a tensor that shares the memory of another library's array.

    On a backend that does not hold NumPy arrays the elements are copied.

    Args:
        ext_tensor: anything with `__dlpack__` whose elements are in this machine's memory.
        backend: a backend or its name; by default the current one.

    Raises:
        TypeError: `ext_tensor` does not speak DLPack.
        ExchangeError: its elements are elsewhere or read-only, or it refuses to share them.
        DTypeError: its element type has no counterpart.
    """
    if not (hasattr(ext_tensor, "__dlpack__") and hasattr(ext_tensor, "__dlpack_device__")):
        raise TypeError(
            f"from_dlpack() takes an array with __dlpack__; {ext_tensor!r} of type "
            f"{type(ext_tensor).__name__} was given."
        )
    device = tuple(ext_tensor.__dlpack_device__())
    if device[0] != CPU:
        raise ExchangeError(
            f"the array is on DLPack device {device}, not in this machine's memory: copy it to "
            "the host first."
        )
    try:
        array = taken(ext_tensor)
    except (BufferError, RuntimeError) as error:
        raise ExchangeError(f"the array cannot be shared: {error}") from error
    if not array.flags.writeable:
        raise ExchangeError(
            "the array is read-only, which tensors are not: copy it, as in "
            "tensor(numpy.from_dlpack(x))."
        )
    return from_numpy(array, backend)


@method
def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Return DLPack's numbers for the memory of this machine.

    Raises:
        ExchangeError: the elements are elsewhere.
    """
    shared_elements(self, "DLPack")
    return CPU, 0


@method
def __dlpack__(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
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
    shared_elements(self, "DLPack")
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
