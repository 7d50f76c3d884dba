"""Share memory with other libraries through DLPack, in both directions.

NumPy shares the memory of its arrays. For other memory, a backend provides a `SharedMemory`, and
the capsules are created here.
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
"""DLPack's device type of host memory."""

DEFAULT_STREAM, NO_STREAM = 1, -1
"""The argument `stream` for the default stream of a device, and for callers that synchronize."""


def from_dlpack(ext_tensor: Any, backend: Backend = None) -> Tensor:
    """Import an array of another library as a tensor that shares its memory.

    Host memory is copied for a backend without NumPy arrays. Device memory needs the backend of
    that device.

    Args:
        ext_tensor: anything with `__dlpack__`.
        backend: a backend or its name; by default the current one.

    Raises:
        TypeError: `ext_tensor` does not support DLPack.
        ExchangeError: the backend cannot access the memory, or it is read-only or not shared.
        DTypeError: the dtype is not supported.
    """
    if not (hasattr(ext_tensor, "__dlpack__") and hasattr(ext_tensor, "__dlpack_device__")):
        raise TypeError(
            f"from_dlpack() takes an array with __dlpack__; {ext_tensor!r} of type "
            f"{type(ext_tensor).__name__} was given."
        )
    device = tuple(ext_tensor.__dlpack_device__())
    if device[0] != CPU:
        return _import_from_device(ext_tensor, device, backend)
    try:
        array = np.from_dlpack(ext_tensor)
    except (BufferError, RuntimeError) as error:
        bits = _import_bfloat16(ext_tensor)
        if bits is None:
            raise ExchangeError(f"from_dlpack(): the array cannot be shared: {error}") from error
        return over_array(bits, get_backend(backend), bfloat16)
    if not array.flags.writeable:
        raise ExchangeError(
            "from_dlpack(): the array is read-only, and tensors are writeable: copy it, as in "
            "tensor(numpy.from_dlpack(x))."
        )
    return from_numpy(array, backend)


def _import_bfloat16(array: Any) -> Array | None:
    """Import an array of bfloat16, which NumPy lacks; return None for other dtypes."""
    try:
        source = imported(array.__dlpack__())
    except (BufferError, RuntimeError):
        return None
    if source.dtype is not bfloat16 or any(stride < 0 for stride in source.strides):
        return None
    if 0 in source.shape:
        return np.empty(source.shape, bfloat16.numpy)
    ends = ((size - 1) * s for size, s in zip(source.shape, source.strides, strict=True))
    memory: Any = (ctypes.c_uint16 * (1 + sum(ends))).from_address(source.address)
    memory.owner = source.owner  # keeps the memory alive as long as the array
    row: Array = np.frombuffer(memory, bfloat16.numpy)
    steps = [2 * stride for stride in source.strides]
    return np.lib.stride_tricks.as_strided(row, source.shape, steps, writeable=True)


def _import_from_device(array: Any, device: tuple[int, ...], backend: Backend) -> Tensor:
    """Import an array in the memory of a device."""
    chosen = get_backend(backend)
    memory: SharedMemory | None = chosen.shared_memory()
    if memory is None or memory.device != device:
        raise ExchangeError(
            f"from_dlpack(): the array is on DLPack device {device}, which backend "
            f"{chosen.name!r} cannot access: choose a backend for that device, as in "
            "from_dlpack(x, backend=...), or copy the array to the host first."
        )
    try:
        capsule = array.__dlpack__(stream=memory.stream)
    except (BufferError, RuntimeError) as error:
        raise ExchangeError(f"from_dlpack(): the array cannot be shared: {error}") from error
    source = imported(capsule)
    shape, strides, dtype = source.shape, source.strides, source.dtype
    if 0 in shape:
        return Tensor._make(chosen.empty(shape, dtype), chosen)
    if any(stride < 0 for stride in strides) or source.address % dtype.itemsize:
        raise ExchangeError(
            f"from_dlpack(): the array has strides {strides} and address {source.address}; "
            "negative strides and unaligned elements are not supported: copy it first."
        )
    count = 1 + sum((size - 1) * s for size, s in zip(shape, strides, strict=True))
    row = memory.from_address(source.address, count, dtype, source.owner)
    return Tensor._make(TensorData(row.storage, shape, strides, row.offset, dtype=dtype), chosen)


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Return DLPack's device type and index; (1, 0) is host memory.

    Raises:
        ExchangeError: the memory cannot be shared.
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
    """Export the elements as a capsule for another library.

    For elements on a device, `stream` is the handle of the stream that will use them, which then
    waits for all pending work on them; -1 is for callers that synchronize, and None is the default
    stream.

    Raises:
        ExchangeError: the tensor requires grad, its memory cannot be shared, another device was
            requested, or a stride is negative, which not all libraries support.
    """
    if self.requires_grad:
        raise ExchangeError("a tensor that requires grad cannot be exported: export x.detach().")
    device = self.__dlpack_device__()
    if any(stride < 0 for stride in self.stride()):
        raise ExchangeError("a tensor with negative strides cannot be exported: clone() it first.")
    if dl_device not in {None, device}:
        raise ExchangeError(
            f"the elements cannot be exported to DLPack device {dl_device}: they are on {device}; "
            "(1, 0) is host memory."
        )
    if self.backend.shared_memory() is not None:
        return _export_from_device(self.clone() if copy else self, stream)
    if stream is not None:
        raise ExchangeError(f"host memory has no streams; stream={stream!r} was given.")
    array = self.backend.to_host(self._tensor)
    if copy:
        array = array.copy()
    if self.dtype is bfloat16:
        return of_bfloat16(array.view(np.uint16).__dlpack__())
    try:
        return array.__dlpack__(max_version=max_version)
    except BufferError as error:
        raise ExchangeError(f"the elements cannot be exported: {error}.") from error


def _export_from_device(x: Tensor, stream: Any) -> Any:
    """Export elements on a device for use on a stream."""
    memory: SharedMemory = x.backend.shared_memory()
    if stream is None:
        stream = DEFAULT_STREAM
    if isinstance(stream, bool) or not isinstance(stream, int) or stream == 0 or stream < -1:
        raise ExchangeError(
            f"stream must be the handle of a stream, {DEFAULT_STREAM} for the default stream, or "
            f"-1 for none; {stream!r} was given."
        )
    if stream != NO_STREAM:
        memory.make_stream_wait(stream)
    return exported(first_address(x), x._tensor.layout, memory.device, x._tensor)
