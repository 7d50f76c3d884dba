"""Memory shared with other libraries by DLPack, in both directions.

What is in NumPy's arrays is shared by NumPy. For what is elsewhere a backend says how it is
reached, by its `SharedMemory`, and the capsules are made here.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import Array, bfloat16
from mt_tensor.core.registry import Backend, get_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.creation.from_arrays import from_numpy, over_array
from mt_tensor.errors import ExchangeError
from mt_tensor.exchange.capsules import exported, imported, of_bfloat16
from mt_tensor.exchange.interop import first_address, shared_elements
from mt_tensor.exchange.sharing import SharedMemory

CPU = 1
"""DLPack's number for the memory of this machine."""

DEFAULT_STREAM, NO_STREAM = 1, -1
"""What callers give for the default stream of a device, and if they wait themselves."""


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


def from_dlpack(ext_tensor: Any, backend: Backend = None) -> Tensor:
    """Return a tensor that shares the memory of another library's array.

    Elements in this machine's memory are copied for a backend that does not hold NumPy arrays;
    those on a device are for the backend that computes there.

    Args:
        ext_tensor: anything with `__dlpack__`.
        backend: a backend or its name; by default the current one.

    Raises:
        TypeError: `ext_tensor` does not speak DLPack.
        ExchangeError: the backend does not reach its elements, they are read-only, or it refuses to
            share them.
        DTypeError: its element type has no counterpart.
    """
    if not (hasattr(ext_tensor, "__dlpack__") and hasattr(ext_tensor, "__dlpack_device__")):
        raise TypeError(
            f"from_dlpack() takes an array with __dlpack__; {ext_tensor!r} of type "
            f"{type(ext_tensor).__name__} was given."
        )
    device = tuple(ext_tensor.__dlpack_device__())
    if device[0] != CPU:
        return _adopted(ext_tensor, device, backend)
    try:
        array = taken(ext_tensor)
    except (BufferError, RuntimeError) as error:
        bits = _of_bfloat16(ext_tensor)
        if bits is None:
            raise ExchangeError(f"the array cannot be shared: {error}") from error
        return over_array(bits, get_backend(backend), bfloat16)
    if not array.flags.writeable:
        raise ExchangeError(
            "the array is read-only, which tensors are not: copy it, as in "
            "tensor(numpy.from_dlpack(x))."
        )
    return from_numpy(array, backend)


def _of_bfloat16(array: Any) -> Array | None:
    """Return another library's array of bfloat16, which NumPy has not; None if it is another."""
    try:
        there = imported(array.__dlpack__())
    except (BufferError, RuntimeError):
        return None
    if there.dtype is not bfloat16 or any(stride < 0 for stride in there.strides):
        return None
    if 0 in there.shape:
        return np.empty(there.shape, bfloat16.numpy)
    ends = ((size - 1) * s for size, s in zip(there.shape, there.strides, strict=True))
    memory: Any = (ctypes.c_uint16 * (1 + sum(ends))).from_address(there.address)
    memory.owner = there.owner  # for as long as an array is over it
    row: Array = np.frombuffer(memory, bfloat16.numpy)
    steps = [2 * stride for stride in there.strides]
    return np.lib.stride_tricks.as_strided(row, there.shape, steps, writeable=True)


def _adopted(array: Any, device: tuple[int, ...], backend: Backend) -> Tensor:
    """Return a tensor over the memory of another library's array on a device."""
    chosen = get_backend(backend)
    memory: SharedMemory | None = chosen.shared_memory()
    if memory is None or memory.device != device:
        raise ExchangeError(
            f"the array is on DLPack device {device}, which backend {chosen.name!r} does not "
            "reach: choose one that computes there, as in from_dlpack(x, backend=...), or copy the "
            "array to the host first."
        )
    try:
        capsule = array.__dlpack__(stream=memory.stream)
    except (BufferError, RuntimeError) as error:
        raise ExchangeError(f"the array cannot be shared: {error}") from error
    there = imported(capsule)
    shape, strides, dtype = there.shape, there.strides, there.dtype
    if 0 in shape:
        return Tensor._make(chosen.empty(shape, dtype), chosen)
    if any(stride < 0 for stride in strides) or there.address % dtype.itemsize:
        raise ExchangeError(
            f"the array has strides {strides} and begins at address {there.address}; negative "
            "strides, and elements that lie across their places, are not imported: copy it first."
        )
    count = 1 + sum((size - 1) * s for size, s in zip(shape, strides, strict=True))
    row = memory.adopted(there.address, count, dtype, there.owner)
    return Tensor._make(TensorData(row.storage, shape, strides, row.offset, dtype=dtype), chosen)


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Return DLPack's numbers for the device that the elements are on; (1, 0) is this machine.

    Raises:
        ExchangeError: others do not reach them.
    """
    memory: SharedMemory | None = self.backend.shared_memory()
    if memory is not None:
        return memory.device
    shared_elements(self, "DLPack")
    return CPU, 0


def __dlpack__(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a capsule through which another library shares the elements.

    For elements on a device, `stream` is the handle of the stream that they will be used on, which
    then waits for all work on them; -1 is for a caller who waits himself, and None stands for the
    device's default stream.

    Raises:
        ExchangeError: the tensor records, others do not reach its elements, they are wanted
            elsewhere, or a stride is negative, which not all libraries survive.
    """
    if self.requires_grad:
        raise ExchangeError(
            "a tensor that requires grad would lose its history: export x.detach()."
        )
    device = self.__dlpack_device__()
    if any(stride < 0 for stride in self.stride()):
        raise ExchangeError("a tensor with negative strides is not exported: clone() it first.")
    if dl_device not in {None, device}:
        raise ExchangeError(
            f"the elements cannot be exported to DLPack device {dl_device}: they are on {device}; "
            "(1, 0) is this machine's memory."
        )
    if self.backend.shared_memory() is not None:
        return _lent(self.clone() if copy else self, stream)
    if stream is not None:
        raise ExchangeError(f"this machine's memory has no streams; {stream!r} was given.")
    array = self.backend.to_host(self._tensor)
    if copy:
        array = array.copy()
    if self.dtype is bfloat16:
        return of_bfloat16(array.view(np.uint16).__dlpack__())
    # A capsule without a version is what a consumer has to expect of an older producer.
    options: dict[str, Any] = {"max_version": max_version} if VERSIONED else {}
    try:
        return array.__dlpack__(**options)
    except BufferError as error:
        raise ExchangeError(f"the elements cannot be exported: {error}.") from error


def _lent(x: Tensor, stream: Any) -> Any:
    """Return a capsule with elements on a device, for whoever uses them on a stream."""
    memory: SharedMemory = x.backend.shared_memory()
    if stream is None:
        stream = DEFAULT_STREAM
    if isinstance(stream, bool) or not isinstance(stream, int) or stream == 0 or stream < -1:
        raise ExchangeError(
            f"a stream is the number of its handle, {DEFAULT_STREAM} for the default stream, or -1 "
            f"for none; {stream!r} was given."
        )
    if stream != NO_STREAM:
        memory.let_wait(stream)
    return exported(first_address(x), x._tensor.layout, memory.device, x._tensor)
