"""The class `device`, which maps torch's devices to backends.

Several backends may use one device: `numpy`, `simple` and `fast` use host memory, "cpu". Moving a
tensor to the CPU keeps its backend if that is on the CPU; new tensors use the current backend.
"""

from __future__ import annotations

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import UnknownBackendError
from mt_tensor.core.extensions import extends
from mt_tensor.core.registry import DEFAULT, current_backend, get_backend
from mt_tensor.core.strides import is_integer

HOST = "cpu"

NAMES = frozenset({"cuda", "hpu", "meta", "mps", "mtia", "xla", "xpu"})
"""torch's device types. As in torch, a device that does not exist can be named, but not used."""


class device:  # noqa: N801 - torch's name
    """A device: "cpu", "cuda", or that of a backend.

    Args:
        type: a device type of torch, perhaps with an index as in "cuda:0"; a backend or its name;
            another device; or an integer, the index of a CUDA device.
        index: the index of the device; None for the default one.

    Attributes:
        type: "cpu", "cuda" or another device type of torch, or the `device` of another backend.
        index: the index of the device, or None.

    Raises:
        UnknownBackendError: the backend or device is unknown, or the index is not supported.
        BackendUnavailableError: the backend cannot be used on this machine; the message says why.
        TypeError: the index is not an integer.
    """

    __slots__ = ("_backend", "index", "type")

    type: str
    index: int | None
    _backend: TensorBackend | None  # None for "cpu", which uses the current backend

    def __init__(self, type: str | int | device | TensorBackend, index: int | None = None) -> None:
        self._backend = None
        if isinstance(type, device):
            self.type, self.index, self._backend = type.type, type.index, type._backend
            return
        if isinstance(type, bool) or not (index is None or is_integer(index)):
            given = type if index is None else index
            raise TypeError(f"device() takes an integer as index; {given!r} was given.")
        given = f"{type!r}" if index is None else f"{type!r} and index {index}"
        if isinstance(type, int):
            index, type = type, "cuda"
        if isinstance(type, str) and ":" in type:
            type, _, number = type.partition(":")
            index = int(number) if number.isdecimal() else -1
        is_name = isinstance(type, str) and type in NAMES
        if index is not None and index != 0 and not (is_name and index > 0):
            raise UnknownBackendError(
                "device() takes index 0, and for a device type such as 'cuda' any non-negative "
                f"index; {given} was given."
            )
        self.index = index
        self.type = str(type) if is_name else HOST
        if type != HOST and not is_name:
            self._backend = get_backend(type)
            self.type = self._backend.device

    @property
    def backend(self) -> TensorBackend:
        """The backend of new tensors on this device.

        Raises:
            UnknownBackendError: no backend has this name, or the index is not supported.
            BackendUnavailableError: the backend cannot be used here; the message says why.
        """
        if self._backend is not None:
            return self._backend
        if self.type != HOST:
            if self.index:
                raise UnknownBackendError(
                    f"only the first device of a type can be used; {str(self)!r} was given."
                )
            return get_backend(self.type)
        current = current_backend()
        return current if current.device == HOST else get_backend(DEFAULT)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index or 0) == (other.type, other.index or 0)

    def __hash__(self) -> int:
        return hash((self.type, self.index or 0))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"


@extends("backend of a device")
def backend_of(where: str | device | TensorBackend, own: TensorBackend | None) -> TensorBackend:
    """Return the backend of a device, for a tensor that is on the backend `own`."""
    chosen = device(where)
    if own is not None and own.device == chosen.type and chosen._backend is None:
        return own
    return chosen.backend
