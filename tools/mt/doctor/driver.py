"""NVIDIA's driver: the CUDA version it supports, and the number of visible GPUs."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
NEWEST = 13
"""The newest CUDA that mt-cuda has an extra for, and the default without a driver."""


@dataclass(frozen=True)
class Driver:
    """NVIDIA's driver.

    Attributes:
        version: the newest CUDA version that it supports.
        devices: the number of visible GPUs.
    """

    version: tuple[int, int]
    devices: int

    @property
    def extra(self) -> str:
        """The extra of mt-cuda with the compiler for it."""
        return f"cu{min(self.version[0], NEWEST)}"


def driver() -> Driver | None:
    """Query the driver; None if there is none."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    number, count = ctypes.c_int(0), ctypes.c_int(0)
    library.cuDriverGetVersion(ctypes.byref(number))
    if library.cuInit(0) == 0:
        library.cuDeviceGetCount(ctypes.byref(count))
    return Driver((number.value // 1000, number.value % 1000 // 10), count.value)
