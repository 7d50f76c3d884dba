"""The kernels that mt-fast and mt-cuda generate for an operation."""

from __future__ import annotations

from mt_cuda import CudaOps
from mt_cuda.recording import Recorder
from play.comparison import Operation
from play.compiled import kernels_of


def fast_kernels(operation: Operation) -> list[tuple[str, str]]:
    """Return the kernels of mt-fast with titles, or why there are none."""
    found = [
        (f"Threads divide its {units:,} units:" if units else "Runs on one thread:", kernel)
        for kernel, units in kernels_of(operation.on("fast")).items()
    ]
    if found:
        return [(title, kernel.source.text) for title, kernel in found]
    return [("Left to NumPy, which has less overhead for so little work.", "")]


def cuda_kernels(operation: Operation) -> list[tuple[str, str]]:
    """Return the kernels for a GPU with titles, even if the simulator computes the result."""
    machine = Recorder()
    operation.on(CudaOps(machine, plain=True))()
    return [
        (f"For {launch.blocks:,} blocks of {launch.threads} threads:", launch.kernel.source)
        for launch in machine.record.launches
    ]
