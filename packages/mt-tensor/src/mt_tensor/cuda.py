"""The parts of `torch.cuda` that programs use to choose a device.

The backend `cuda` is in mt-cuda.
"""

from __future__ import annotations

from mt_tensor.core.generator import manual_seed
from mt_tensor.core.registry import Device, as_backend, get_backend
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
"""All devices share one sequence of random numbers."""


def is_available() -> bool:
    """Return whether mt-cuda is installed and finds a GPU on this machine.

    Raises:
        BackendLoadError: mt-cuda is installed, but broken.
    """
    try:
        get_backend("cuda")
    except (UnknownBackendError, BackendUnavailableError):
        return False
    return True


def device_count() -> int:
    """Return the number of usable GPUs, 0 or 1."""
    return int(is_available())


def current_device() -> int:
    """Return the index of the current GPU, which is 0.

    Raises:
        BackendError: no GPU can be used; the message says why.
    """
    get_backend("cuda")
    return 0


def synchronize(device: Device = None) -> None:
    """Wait until the GPU has completed all pending work, for example to measure time.

    Args:
        device: the device to wait for; None for the GPU.

    Raises:
        BackendError: the device cannot be used, or is unknown; the message says why.
    """
    as_backend(None, "cuda" if device is None else device).synchronize()


def empty_cache() -> None:
    """Do nothing: free memory remains in the pool of the driver for later allocations."""
