"""Check the GPU: NVIDIA's driver, and the compiler for it."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator

from mt.doctor.findings import Finding, fault, fine, note
from mt.doctor.packages import install, installed

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"

COMPILERS = {"cu13": "nvidia-cuda-nvrtc", "cu12": "nvidia-cuda-nvrtc-cu12"}
"""The distribution of the compiler, by the extra of mt-cuda that needs it."""


def check_gpu() -> Iterator[Finding]:
    """Check the driver and the compiler, if mt-cuda is installed."""
    if installed("mt-cuda") is None:
        return
    found = driver()
    if found is None:
        yield fine("GPU", "there is no NVIDIA driver; MT_CUDA_SIM=1 simulates a GPU")
        return
    major, minor, devices = found
    text = f"{devices}, with a driver for CUDA {major}.{minor}"
    if not devices:
        hidden = "CUDA_VISIBLE_DEVICES" in os.environ
        fix = "unset CUDA_VISIBLE_DEVICES" if hidden else "run nvidia-smi to list the GPUs"
        yield note("GPU", text, fix)
        return
    yield fine("GPU", text)
    if major < 12:
        text = "mt-cuda compiles for CUDA 12 and newer"
        yield fault("CUDA compiler", text, "install a newer NVIDIA driver")
        return
    extra = "cu13" if major >= 13 else "cu12"
    versions = {name: version for name in COMPILERS.values() if (version := installed(name))}
    usable = any(int(version.partition(".")[0]) <= major for version in versions.values())
    text = ", ".join(f"{name} {version}" for name, version in versions.items()) or "not installed"
    if usable:  # minor versions are compatible
        yield fine("CUDA compiler", text)
    else:
        fix = install("-e", f"packages/mt-cuda[{extra}]")
        yield fault("CUDA compiler", f"{text}; the driver supports CUDA {major}.{minor}", fix)


def driver() -> tuple[int, int, int] | None:
    """Return the newest CUDA that the driver supports, and the number of visible GPUs.

    Returns:
        The major and the minor version, and the number; None without a driver.
    """
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    number, count = ctypes.c_int(0), ctypes.c_int(0)
    library.cuDriverGetVersion(ctypes.byref(number))
    if library.cuInit(0) == 0:
        library.cuDeviceGetCount(ctypes.byref(count))
    return number.value // 1000, number.value % 1000 // 10, count.value
