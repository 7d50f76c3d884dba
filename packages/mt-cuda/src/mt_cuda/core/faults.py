"""What goes wrong on a GPU, as errors that say what was asked for and what to do.

A GPU does what it is told long after it was told: a kernel that fails is noticed by whatever waits
for it, which may be a copy of something else. After some faults the driver serves this process no
more, and every later call fails with the first one's code. So the kernels that the host has not
waited for yet are remembered, and so is the first such fault.
"""

from __future__ import annotations

import os
from collections import deque
from typing import Any

from mt_cuda.core.errors import DeviceLostError, KernelError, OutOfMemoryError
from mt_cuda.core.kernel import Kernel
from mt_tensor import DType

CODE = "CUDA_ERROR_"
"""With what the names of the driver's codes begin."""

NO_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"

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
"""What the driver says of faults after which it serves a process no more."""

REFUSED = (
    "CUDA_ERROR_INVALID_IMAGE",
    "CUDA_ERROR_INVALID_PTX",
    "CUDA_ERROR_NO_BINARY_FOR_GPU",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
)
"""What it says of code that it cannot run: the compiler is newer than it, or for another GPU."""

WAITING = 8
"""How many of the kernels that nobody has waited for an error names."""


class Faults:
    """What has gone wrong on one device.

    Attributes:
        process: the number of the process that uses it.
        waiting: the last kernels that were launched since the host has waited for the device.
        first: the fault that has ended all work, once there is one.
    """

    def __init__(self, cure: str) -> None:
        """Begin with none; `cure` is how to install what compiles for this GPU."""
        self.cure = cure
        self.process = os.getpid()
        self.waiting: deque[Kernel] = deque(maxlen=WAITING)
        self.first: str | None = None

    def error(self, action: str, reason: str) -> KernelError:
        """Return the error of an action that the driver has refused, or has reported a fault in.

        Args:
            action: what failed, as the beginning of a sentence.
            reason: what the driver says, with the name of its code.
        """
        if os.getpid() != self.process:
            return DeviceLostError(
                f"{action} ({reason}): this process was forked from one that uses the GPU, and "
                "cannot use it, too. Start it by multiprocessing's method `spawn`, or compute here "
                "on another backend."
            )
        if self.first is None and any(code in reason for code in LASTING):
            self.first = f"{action} ({reason}){self._suspects()}"
        if self.first is not None:
            return DeviceLostError(
                f"the GPU serves this process no more since {self.first}. What was on it is lost: "
                "start the program again."
            )
        advice = ""
        if any(code in reason for code in REFUSED):
            advice = f" The compiler is newer than the driver, or too old for the GPU: {self.cure}."
        return KernelError(f"{action} ({reason}).{advice}")

    def no_memory(
        self, count: int, dtype: DType, free: int, total: int, device: str
    ) -> OutOfMemoryError:
        """Return the error of a request for memory that there is not; sizes are in bytes."""
        return OutOfMemoryError(
            f"{device} has no memory for {count:,} elements of {dtype.name}, "
            f"{sized(count * dtype.itemsize)}: {sized(free)} of {sized(total)} are free. Take "
            "smaller batches or a smaller network, forget tensors that are no longer needed, keep "
            "no graph (`with mt.no_grad()`), or end other programs on this GPU."
        )

    def _suspects(self) -> str:
        """Say which kernels may have failed."""
        names = list(dict.fromkeys(kernel.name for kernel in self.waiting))
        if len(names) < 2:
            return f", in kernel {names[0]}" if names else ""
        return (
            f", in one of the kernels {', '.join(names)} (CUDA_LAUNCH_BLOCKING=1 in the "
            "environment shows which)"
        )


def sized(count: int) -> str:
    """Return a number of bytes as people read it."""
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"


def described(error: Any) -> str:
    """Return what an exception of `cuda.core` says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__
