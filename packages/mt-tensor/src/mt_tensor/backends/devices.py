"""The class `device`: torch's word for where elements are, in terms of backends.

Programs for torch choose a device. Several backends may keep their elements on one: those of
`numpy`, `simple` and `fast` are in the memory of this machine, "cpu". A tensor that is on the CPU
stays on its backend there; a new one belongs to the current backend.
"""

from __future__ import annotations

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import UnknownBackendError
from mt_tensor.core.extensions import extends
from mt_tensor.core.registry import DEFAULT, current_backend, get_backend

HOST = "cpu"


class device:  # noqa: N801 - torch's name
    """Where elements are: "cpu", "cuda", or a backend by name.

    >>> device("cpu"), device("simple") == device("cpu")
    (device(type='cpu'), True)
    >>> from mt_tensor import use_backend
    >>> with use_backend("simple"):
    ...     print(device("cpu").backend, device("numpy").backend)
    SimpleOps('simple') NumpyOps('numpy')

    Attributes:
        type: "cpu", "cuda", or the `device` of another backend.
        index: the number of the device among those of its type, which is 0, or None.

    Raises:
        UnknownBackendError: there is no such backend or device.
        BackendUnavailableError: it cannot be used on this machine; the message says why.
    """

    __slots__ = ("_backend", "index", "type")

    type: str
    index: int | None
    _backend: TensorBackend | None  # None for "cpu": the current one when it is needed

    def __init__(self, type: str | device | TensorBackend, index: int | None = None) -> None:
        self._backend = None
        if isinstance(type, device):
            self.type, self.index, self._backend = type.type, type.index, type._backend
            return
        if isinstance(type, str) and ":" in type:
            type, _, number = type.partition(":")
            index = int(number) if number.isdecimal() else -1
        if index not in {None, 0}:
            raise UnknownBackendError(
                f"there is one device of each type, with index 0; {type!r} with index {index} was "
                "given."
            )
        self.index = index
        self.type = HOST
        if type != HOST:
            self._backend = get_backend(type)
            self.type = self._backend.device

    @property
    def backend(self) -> TensorBackend:
        """The backend of new elements on this device."""
        if self._backend is not None:
            return self._backend
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
    """Return the backend that a device chooses for elements which are on the backend `own` now."""
    chosen = device(where)
    if own is not None and own.device == chosen.type and chosen._backend is None:
        return own
    return chosen.backend
