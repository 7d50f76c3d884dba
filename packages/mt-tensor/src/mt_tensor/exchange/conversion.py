"""Conversion to other dtypes and backends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_tensor.backends.devices import device as Place  # noqa: N812 - the name of an argument
from mt_tensor.core.arguments import check_flags
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.conversion import cast
from mt_tensor.core.creation import tensor
from mt_tensor.core.dtypes import DType, as_dtype
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.registry import Backend, Device, as_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation import typed
from mt_tensor.creation.formats import in_format
from mt_tensor.creation.from_arrays import over_array
from mt_tensor.errors import DTypeError
from mt_tensor.recording.functions import Function


class Move(Function):
    """Copy to another backend."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, backend: TensorBackend) -> Tensor:
        ctx.backend = x.backend
        elements = np.array(x.backend.to_host(x._tensor))  # a copy: memory is never shared
        return Tensor._make(backend.from_host(elements), backend)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad.to(ctx.backend), None


def to(
    self: Tensor,
    target: Any = None,
    dtype: Any = None,
    copy: bool = False,
    *,
    backend: Backend = None,
    device: Device = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Convert to another dtype, another backend, or both.

    `x.to("float64")`, `x.to("simple")`, `x.to("simple", "float64")`, `x.to("cpu")`,
    `x.to(other)`, `x.to(dtype=..., backend=...)`. A tensor that is already on a device keeps its
    backend; see `mt_tensor.device`.

    Args:
        self: the tensor.
        target: a dtype, a device, a backend, the name of one, or a tensor of the dtype and on the
            backend to convert to.
        dtype: the dtype.
        copy: whether to return a copy even if nothing changes.
        backend: a backend or its name.
        device: a device or its name.
        non_blocking: accepted for compatibility with torch; copies always block.
        memory_format: the order of the elements in memory, which are copied if they have another
            order. By default a copy is row-major; `preserve_format` keeps the order of the tensor.

    Raises:
        TypeError: a dtype or a backend was given twice.
        UnknownBackendError: a name is not that of a dtype, backend or device.
        DTypeError: `dtype` is not supported.
        ShapeError: the memory format is for another number of dimensions.
    """
    is_same = target is self._tensor.dtype and dtype is None and backend is None
    if is_same and memory_format is None and not copy:
        return self  # a fast path for the most frequent call
    if copy is not False or non_blocking is not False:
        check_flags(copy=copy, non_blocking=non_blocking)
    if isinstance(target, Tensor):
        _check_once(dtype, backend, device)
        dtype, backend = target.dtype, target.backend
    elif _is_place(target):
        _check_once(backend, device)
        device = target
    elif target is not None:
        _check_once(dtype)
        dtype = target
    result: Tensor = self
    if (chosen := as_backend(backend, device, self.backend)) is not self.backend:
        result = Move.apply(result, chosen)
    if dtype is not None:
        result = cast(result, as_dtype(dtype))
    if memory_format is not None:
        return in_format(self, result, memory_format, copy)
    return self.clone() if copy and result is self else result


def device(self: Tensor) -> Place:
    """The device of the tensor."""
    return Place(self.backend)


def is_cuda(self: Tensor) -> bool:
    """Whether the tensor is on an NVIDIA GPU."""
    return self.backend.device == "cuda"


def cpu(self: Tensor) -> Tensor:
    """Return the tensor itself if it is in host memory, else a copy there."""
    return self.to(device="cpu")


def cuda(self: Tensor, device: Device = None, non_blocking: bool = False) -> Tensor:
    """Return the tensor itself if it is on the GPU, else a copy there.

    Raises:
        BackendUnavailableError: there is no GPU; the message says why.
        UnknownBackendError: mt-cuda is not installed.
    """
    return self.to(device="cuda" if device is None else device, non_blocking=non_blocking)


def conversion(name: str, dtype: DType) -> Callable[[Tensor], Tensor]:
    """Return the method of this name that converts to a dtype."""

    def convert(self: Tensor) -> Tensor:
        return cast(self, dtype)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"""Return the tensor as {dtype.name}."""
    return convert


def type(
    self: Tensor,
    dtype: Any = None,
    non_blocking: bool = False,  # noqa: ARG001 - for compatibility with torch
) -> Tensor | str:
    """Convert to another dtype, or return torch's name of the tensor's type if none is given.

    The dtype may be a legacy constructor, such as `FloatTensor`, or its name in torch, such as
    `"torch.FloatTensor"`.
    """
    if dtype is None:
        prefix = "cuda." if self.backend.device == "cuda" else ""
        return f"torch.{prefix}{typed.name_of(self.dtype)}"
    if isinstance(dtype, str) and dtype.endswith("Tensor"):
        dtype = getattr(typed, dtype.rpartition(".")[2], dtype)
    if isinstance(dtype, typed.TensorType):
        dtype = dtype.dtype
    return self.to(as_dtype(dtype))


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Convert to the dtype of another tensor."""
    require_tensors("type_as", other)
    return self.to(other.dtype)


def _is_place(target: Any) -> bool:
    """Return whether an argument is a backend or a device, or a string that is not a dtype."""
    if not isinstance(target, str):
        return not isinstance(target, DType) and isinstance(target, (TensorBackend, Place))
    try:
        as_dtype(target)
    except DTypeError:
        return True
    return False


def _check_once(*others: Any) -> None:
    """Raise TypeError if a dtype, backend or device was given in addition to the target."""
    if any(other is not None for other in others):
        raise TypeError(
            f"to() was given a dtype, backend or device twice, the second time as {others[0]!r}."
        )


def as_tensor(
    data: Any, dtype: Any = None, backend: Backend = None, device: Device = None
) -> Tensor:
    """Convert `data` to a tensor, copying only if necessary.

    Args:
        data: an argument of `tensor`. A tensor remains part of its graph, and is returned itself if
            no conversion is needed; an array shares its memory, as with `from_numpy`.
        dtype: the dtype; by default as in `tensor`.
        backend: a backend or its name; by default that of a tensor, else the current one.
        device: a device instead of a backend; see `mt_tensor.device`.

    Raises:
        ShapeError: the sequences are ragged.
        DTypeError: an element is not a number, or the dtype is not supported.
    """
    if isinstance(data, Tensor):
        converted = data.to(as_backend(backend, device, data.backend))
        return converted if dtype is None else converted.to(as_dtype(dtype))
    if isinstance(data, np.ndarray):
        shared = over_array(data, as_backend(backend, device))
        return shared if dtype is None else shared.to(as_dtype(dtype))
    return tensor(data, dtype, backend, device=device)
