"""What torch's programs ask about the GPU before they choose a device.

The backend `cuda` comes from mt-cuda. Everything else about a GPU is a matter of that package.
"""

from mt_tensor.backends.registry import get_backend
from mt_tensor.errors import BackendUnavailableError, UnknownBackendError
from mt_tensor.randomness.generator import manual_seed

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]

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
