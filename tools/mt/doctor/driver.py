"""NVIDIA's driver: which CUDA it understands, and how many GPUs it shows."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
NEWEST = 13
"""The newest CUDA for which there is an extra of mt-cuda, and the one to take without a driver."""


@dataclass(frozen=True)
class Driver:
    """NVIDIA's driver.

    Attributes:
        version: the newest CUDA that it understands.
        devices: how many GPUs it shows.
    """

    version: tuple[int, int]
    devices: int

    @property
    def extra(self) -> str:
        """The extra of mt-cuda that brings what compiles for it."""
        return f"cu{min(self.version[0], NEWEST)}"


def driver() -> Driver | None:
    """Ask the driver; None if there is none."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    number, count = ctypes.c_int(0), ctypes.c_int(0)
    library.cuDriverGetVersion(ctypes.byref(number))
    if library.cuInit(0) == 0:
        library.cuDeviceGetCount(ctypes.byref(count))
    return Driver((number.value // 1000, number.value % 1000 // 10), count.value)
