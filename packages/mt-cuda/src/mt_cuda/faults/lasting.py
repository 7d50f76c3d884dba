"""Errors of failed kernels, which name the action and what to do.

A GPU works asynchronously: the failure of a kernel is reported by whatever waits for it, which may
be a copy of something else. After some faults the driver refuses all further work of this process,
and every later call fails with the first error code. So the first such fault is stored, and the
error names the kernels that the host has not waited for yet.
"""

from __future__ import annotations

import os
from weakref import WeakKeyDictionary

from mt_cuda.core.errors import DeviceLostError, KernelError
from mt_cuda.core.gpu import EXTRAS, Gpu
from mt_cuda.core.tables import GPU

LASTING = (
    "CUDA_ERROR_ASSERT",
    "CUDA_ERROR_CONTEXT_IS_DESTROYED",
    "CUDA_ERROR_ECC_UNCORRECTABLE",
    "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "CUDA_ERROR_INVALID_PC",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_LAUNCH_TIMEOUT",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
)
"""Error codes of the driver after which it refuses all work of a process."""

REFUSED = (
    "CUDA_ERROR_INVALID_IMAGE",
    "CUDA_ERROR_INVALID_PTX",
    "CUDA_ERROR_NO_BINARY_FOR_GPU",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
)
"""Error codes for code that the driver cannot run: the compiler is too new for the driver, or too
old for the GPU."""


class Faults:
    """The faults of one GPU.

    Attributes:
        process: the id of the process that uses the GPU.
        first: the fault that has ended all work, if there was one.
    """

    def __init__(self) -> None:
        self.process = os.getpid()
        self.first: str | None = None


_FAULTS: WeakKeyDictionary[Gpu, Faults] = WeakKeyDictionary()


def begin(gpu: Gpu) -> None:
    """Store the process that uses a GPU."""
    _FAULTS[gpu] = Faults()


def error(gpu: Gpu, action: str, reason: str) -> KernelError:
    """Return the error for an action that the driver refused, or during which it reported a fault.

    Args:
        gpu: the GPU.
        action: what failed, as the start of a sentence.
        reason: the driver's message, with the name of its error code.
    """
    faults = _FAULTS[gpu]
    if os.getpid() != faults.process:
        return DeviceLostError(
            f"{action} ({reason}): this process was forked from one that uses the GPU, and "
            "cannot use it. Start it with multiprocessing's method `spawn`, or compute here on "
            "another backend."
        )
    if faults.first is None and any(code in reason for code in LASTING):
        faults.first = f"{action} ({reason}){_suspects(gpu)}"
        gpu.pool = gpu.device.memory_resource  # so that the next allocation fails
    if faults.first is not None:
        return DeviceLostError(
            f"the GPU cannot be used any more by this process, since {faults.first}. The data on "
            "it is lost: start the program again."
        )
    advice = ""
    if any(code in reason for code in REFUSED):
        advice = f" The compiler is newer than the driver, or too old for the GPU: {EXTRAS}."
    return KernelError(f"{action} ({reason}).{advice}")


def _suspects(gpu: Gpu) -> str:
    """Return the names of kernels that may have failed."""
    names = list(dict.fromkeys(kernel.name for kernel in gpu.waiting))
    if len(names) < 2:
        return f", in kernel {names[0]}" if names else ""
    return (
        f", in one of the kernels {', '.join(names)} (CUDA_LAUNCH_BLOCKING=1 in the "
        "environment shows which)"
    )


GPU["error"] = error
