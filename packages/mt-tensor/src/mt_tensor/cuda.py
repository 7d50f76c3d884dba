"""What torch's programs ask about the GPU before they choose a device.

The backend `cuda` comes from mt-cuda. Everything else about a GPU is a matter of that package.
"""

from mt_tensor.core.generator import manual_seed
from mt_tensor.core.registry import Device, get_backend, place
from mt_tensor.errors import BackendUnavailableError, UnknownBackendError

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "is_available",
    "manual_seed",
    "manual_seed_all",
    "synchronize",
]

manual_seed_all = manual_seed
"""Random numbers are drawn on the host, for all backends."""


def is_available() -> bool:
    """Whether mt-cuda is installed, and finds a GPU on this machine.

    Raises:
        BackendLoadError: mt-cuda is installed, but broken.
    """
    try:
        get_backend("cuda")
    except (UnknownBackendError, BackendUnavailableError):
        return False
    return True


def device_count() -> int:
    """Return how many GPUs tensors can be on: one or none."""
    return int(is_available())


def current_device() -> int:
    """Return the number of the GPU that tensors are on: there is one, 0.

    Raises:
        BackendError: there is none; the error says why.
    """
    get_backend("cuda")
    return 0


def synchronize(device: Device = None) -> None:
    """Wait until the GPU has computed all that it was asked for, as before a time is taken.

    Args:
        device: a device of type "cuda"; there is one.

    Raises:
        BackendError: there is no GPU; the error says why.
    """
    place(None, "cuda" if device is None else device).synchronize()


def empty_cache() -> None:
    """Do nothing: memory that is free stays in the pool of the driver, for what comes next."""
