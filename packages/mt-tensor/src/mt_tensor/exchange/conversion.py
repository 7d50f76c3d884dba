"""Tensors as other element types and on other backends."""

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
from mt_tensor.core.registry import Backend, Device, place
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation.from_arrays import over_array
from mt_tensor.errors import DTypeError
from mt_tensor.recording.functions import Function


class Move(Function):
    """A copy on another backend."""

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
) -> Tensor:
    """Return the tensor as another element type, in another place, or both.

    `x.to("float64")`, `x.to("simple")`, `x.to("simple", "float64")`, `x.to("cpu")`,
    `x.to(other)`, `x.to(dtype=..., backend=...)`. What is on a device already stays on its
    backend; see `mt_tensor.device`.

    Args:
        self: the tensor.
        target: a DType or what names one, a device, a backend, the name of either, or a tensor
            whose element type and backend are taken.
        dtype: the element type.
        copy: whether to return a copy even if nothing changes.
        backend: a backend or its name.
        device: a device or its name.
        non_blocking: whether moving may go on after the call. Here it never does.

    Raises:
        TypeError: an element type or a place was given twice.
        UnknownBackendError: a name is that of no dtype, backend or device.
        DTypeError: there is no such element type.
    """
    if target is self._tensor.dtype and dtype is None and backend is None and not copy:
        return self  # soon, for it is asked very often
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
    if (chosen := place(backend, device, self.backend)) is not self.backend:
        result = Move.apply(result, chosen)
    if dtype is not None:
        result = cast(result, as_dtype(dtype))
    return self.clone() if copy and result is self else result


def device(self: Tensor) -> Place:
    """Where the elements are, by torch's word for it."""
    return Place(self.backend)


def is_cuda(self: Tensor) -> bool:
    """Whether the elements are on a GPU of NVIDIA's."""
    return self.backend.device == "cuda"


def cpu(self: Tensor) -> Tensor:
    """Return the tensor itself if it is in the memory of this machine, else a copy there."""
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
    non_blocking: bool = False,  # noqa: ARG001 - torch's, which here changes nothing
) -> Tensor | str:
    """Return the tensor as another element type, or the name of its own if none is given."""
    return self.dtype.name if dtype is None else self.to(as_dtype(dtype))


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the tensor with the element type of another."""
    require_tensors("type_as", other)
    return self.to(other.dtype)


def _is_place(target: Any) -> bool:
    """Whether something is a backend or a device, or a string that names no dtype."""
    if not isinstance(target, str):
        return not isinstance(target, DType) and isinstance(target, (TensorBackend, Place))
    try:
        as_dtype(target)
    except DTypeError:
        return True
    return False


def _check_once(*others: Any) -> None:
    """Raise TypeError unless all else is left out."""
    if any(other is not None for other in others):
        raise TypeError(
            f"to() was given an element type or a place twice, the second time as {others[0]!r}."
        )


def as_tensor(
    data: Any, dtype: Any = None, backend: Backend = None, device: Device = None
) -> Tensor:
    """Return `data` as a tensor, without a copy where none is needed.

    Args:
        data: what `tensor` takes. A tensor stays connected to its history, and is returned itself
            if nothing has to be converted; an array shares its memory, as with `from_numpy`.
        dtype: the element type; by default as `tensor` chooses it.
        backend: a backend or its name; by default a tensor's own, else the current one.
        device: a device instead of a backend; see `mt_tensor.device`.

    Raises:
        ShapeError: the sequences are ragged.
        DTypeError: an element is no number, or the element type has no counterpart.
    """
    if isinstance(data, Tensor):
        moved = data.to(place(backend, device, data.backend))
        return moved if dtype is None else moved.to(as_dtype(dtype))
    if isinstance(data, np.ndarray):
        shared = over_array(data, place(backend, device))
        return shared if dtype is None else shared.to(as_dtype(dtype))
    return tensor(data, dtype, backend, device=device)
