"""The backends of loaded tensors, chosen by the argument `map_location` of `load`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mt_nn.errors import SettingTypeError
from mt_tensor import device
from mt_tensor.backends import TensorBackend
from mt_tensor.extending import Backend, Device, as_backend

HOST = "cpu"


class Storage:
    """A storage that is being loaded, for functions that choose its device.

    Attributes:
        device: the device.
    """

    __slots__ = ("device",)

    def __init__(self, where: Any = HOST) -> None:
        self.device = device(where)

    def cpu(self) -> Storage:
        """Return the storage on the CPU."""
        return Storage()

    def cuda(
        self,
        device: Any = None,
        non_blocking: bool = False,
    ) -> Storage:
        """Return the storage on the GPU."""
        return Storage("cuda" if device is None else device)


MapLocation = Device | Mapping[str, Any] | Callable[[Any, str], Any]
"""The argument `map_location`: a device, or a table of devices or a function that chooses one."""


class Locations:
    """Choose the backend of each tensor that is loaded.

    Args:
        map_location: a device; a dictionary of devices by location; or a function of a `Storage`
            and its location that returns the storage on a device, or None for the location itself.
        backend: the backend, if `map_location` is None; the current one by default.

    Attributes:
        error: the last error raised by the choice, which does not mean that the file is damaged.

    Raises:
        TypeError: both arguments were given.
        UnknownBackendError: the backend or device is unknown.
    """

    def __init__(self, map_location: MapLocation = None, backend: Backend = None) -> None:
        self.error: Exception | None = None
        self._choose: Callable[[str], Any] | None = None
        if isinstance(map_location, Mapping):
            self._choose = lambda location: map_location.get(location, location)
        elif callable(map_location):
            self._choose = lambda location: _chosen(map_location(Storage(), location), location)
        else:
            self._backend = as_backend(backend, map_location)
        if self._choose is not None and backend is not None:
            raise TypeError(f"pass backend={backend!r} or map_location={map_location!r}, not both.")

    def backend_of(self, location: str = HOST) -> TensorBackend:
        """Return the backend of a tensor.

        Args:
            location: the device that the tensor was saved from, if the file contains it.

        Raises:
            SettingTypeError: the function returned another object.
            UnknownBackendError, BackendUnavailableError: the device cannot be used.
        """
        if self._choose is None:
            return self._backend
        try:
            return as_backend(None, self._choose(location))
        except Exception as error:
            self.error = error
            raise


def _chosen(result: Any, location: str) -> Any:
    """Return the device that the result of a function chooses."""
    if result is None:
        return location
    if not isinstance(result, Storage):
        raise SettingTypeError(
            "a function map_location must return its first argument, with .cpu() or .cuda(), or "
            f"None; {result!r} was returned."
        )
    return result.device
