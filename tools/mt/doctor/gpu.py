"""Check the GPU: the driver, the compiler, and settings that hide it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from mt.doctor.driver import Driver, driver
from mt.doctor.findings import Finding, fault, fine, note
from mt.doctor.packages import install, installed

COMPILERS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")
"""The distributions of the compiler, for CUDA 13 and for CUDA 12."""

OLDEST = (12, 0)
"""The oldest CUDA that mt-cuda supports."""


def check_gpu() -> Iterator[Finding]:
    """Check the driver and the compiler."""
    if installed("mt-cuda") is None:
        return  # the check of stages has reported it
    found = driver()
    if found is None:
        yield fine("GPU", "there is no NVIDIA driver; MT_CUDA_SIM=1 simulates one")
        return
    version = "{}.{}".format(*found.version)
    if found.devices == 0:
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        text = f"the driver, for CUDA {version}, shows no GPU"
        if hidden is None:
            yield note("GPU", text, "run nvidia-smi to list the GPUs that the driver sees")
        else:
            fix = "unset CUDA_VISIBLE_DEVICES"
            yield note("GPU", f"{text}: CUDA_VISIBLE_DEVICES={hidden!r} hides it", fix)
        return
    yield fine("GPU", f"{found.devices}, with a driver for CUDA {version}")
    if found.version < OLDEST:
        text = f"the driver is for CUDA {version}, and mt-cuda compiles for CUDA 12 and newer"
        yield fault("CUDA compiler", text, "install a newer NVIDIA driver")
    else:
        yield _compiler(found)


def _compiler(found: Driver) -> Finding:
    """Check that the driver supports the version of the compiler."""
    compilers = {name: version for name in COMPILERS if (version := installed(name))}
    fix = install(f"-e packages/mt-cuda[{found.extra}]")
    if not compilers:
        return fault("CUDA compiler", "is not installed, and the GPU cannot be used", fix)
    name, version = next(iter(compilers.items()))
    text = f"{name} {version}"
    if int(version.partition(".")[0]) > found.version[0]:  # minor versions are compatible
        newest = "{}.{}".format(*found.version)
        return fault("CUDA compiler", f"{text}; the driver supports CUDA up to {newest}", fix)
    return fine("CUDA compiler", text)
