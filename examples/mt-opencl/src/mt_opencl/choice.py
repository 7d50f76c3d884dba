"""Choose an OpenCL device, and check that it has the features that kernels use."""

from __future__ import annotations

import os
from typing import Any

import pyopencl as cl

from mt_tensor.errors import BackendUnavailableError

CHOICE = "PYOPENCL_CTX"
"""The environment variable of pyopencl that selects a device: `1`, or `0:1`."""

EXTENSIONS = {
    "cl_khr_fp64": "floats of 64 bits",
    "cl_khr_int64_base_atomics": "atomic sums of 64 bits",
    "cl_khr_int64_extended_atomics": "atomic comparisons of 64 bits",
}
"""Optional OpenCL features that kernels use, by the name of the extension."""


def chosen() -> cl.Context:
    """Return a context of the selected device, or of the first.

    Raises:
        BackendUnavailableError: `PYOPENCL_CTX` is not a device, or there is none.
    """
    try:
        return cl.create_some_context(interactive=False)
    except cl.Error as error:
        found = devices()
        if found:
            names = ", ".join(f"{number} is {device.name}" for number, device in found.items())
            message = f"{CHOICE}={os.environ.get(CHOICE, '')} is not an OpenCL device: {names}."
        else:
            message = (
                "there is no OpenCL device. Install a driver; on Debian and Ubuntu, `apt-get "
                "install pocl-opencl-icd` installs one for the processor."
            )
        raise BackendUnavailableError(message) from error


def devices() -> dict[str, cl.Device]:
    """Return every device, by the value of `PYOPENCL_CTX` that selects it."""
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # no driver at all
        return {}
    return {
        f"{i}:{j}": device
        for i, platform in enumerate(platforms)
        for j, device in enumerate(platform.get_devices())
    }


def check(device: Any, threads: int) -> None:
    """Check that a device can run the kernels.

    Args:
        device: the OpenCL device.
        threads: the number of threads of a block.

    Raises:
        BackendUnavailableError: the device cannot; the message lists the missing features.
    """
    offered = device.extensions.split()
    lacks = [what for name, what in EXTENSIONS.items() if name not in offered]
    if device.max_work_group_size < threads:
        lacks.append(f"blocks of {threads} threads")
    if lacks:
        raise BackendUnavailableError(
            f"the OpenCL device {device.name} lacks {', '.join(lacks)}, which kernels use. "
            f"Set {CHOICE} to select another device."
        )
