"""The GPU: the driver, the libraries that compile for it, and what hides it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from mt.doctor.driver import Driver, driver
from mt.doctor.findings import Finding, fault, fine, note
from mt.doctor.packages import install, installed

COMPILERS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")
"""The distributions that bring the compiler, for CUDA 13 and for CUDA 12."""

OLDEST = (12, 0)
"""The oldest CUDA that mt-cuda compiles for."""


def check_gpu() -> Iterator[Finding]:
    """Look at the driver, and at what compiles for it."""
    if installed("mt-cuda") is None:
        return  # said of the stage
    found = driver()
    if found is None:
        yield fine("GPU", "there is no NVIDIA driver; MT_CUDA_SIM=1 simulates one")
        return
    version = "{}.{}".format(*found.version)
    if found.devices == 0:
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        text = f"the driver, for CUDA {version}, shows no GPU"
        if hidden is None:
            yield note("GPU", text, "run nvidia-smi, which says what the driver sees")
        else:
            cure = "unset CUDA_VISIBLE_DEVICES"
            yield note("GPU", f"{text}: CUDA_VISIBLE_DEVICES={hidden!r} hides it", cure)
        return
    yield fine("GPU", f"{found.devices}, with a driver for CUDA {version}")
    if found.version < OLDEST:
        text = f"the driver is for CUDA {version}, and mt-cuda compiles for CUDA 12 and newer"
        yield fault("CUDA compiler", text, "install a newer NVIDIA driver")
    else:
        yield _compiler(found)


def _compiler(found: Driver) -> Finding:
    """Compare the compiler that is installed with the driver that is to take what it makes."""
    compilers = {name: version for name in COMPILERS if (version := installed(name))}
    cure = install(f"-e packages/mt-cuda[{found.extra}]")
    if not compilers:
        return fault("CUDA compiler", "is not installed, and the GPU cannot be used", cure)
    name, version = next(iter(compilers.items()))
    text = f"{name} {version}"
    if int(version.partition(".")[0]) > found.version[0]:  # within CUDA 13 all take what all make
        newest = "{}.{}".format(*found.version)
        return fault("CUDA compiler", f"{text}; the driver takes CUDA up to {newest}", cure)
    return fine("CUDA compiler", text)
