"""The machine: one OpenCL device, its memory, and kernels that are compiled for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from mt_cuda.extending import (
    Grid,
    Kernel,
    KernelError,
    Machine,
    Number,
    Size,
    Tiling,
    TunedOps,
    to_c,
)
from mt_opencl.declarations import DECLARATIONS, OPTION
from mt_opencl.prelude import PRELUDE
from mt_tensor import DType
from mt_tensor.backends.extending import element_type
from mt_tensor.errors import BackendUnavailableError


class Memory:
    """Memory on the device.

    Attributes:
        buffer: what OpenCL allocated.
        count: the number of elements.
        dtype: their type.
    """

    __slots__ = ("buffer", "count", "dtype")

    def __init__(self, buffer: Any, count: int, dtype: DType) -> None:
        self.buffer = buffer
        self.count = count
        self.dtype = dtype


class Device(Machine):
    """The first OpenCL device; `PYOPENCL_CTX=1` chooses the second, as everywhere in pyopencl.

    Raises:
        BackendUnavailableError: there is none, or it lacks what the kernels need.
    """

    size = Size(
        threads=64,
        resident=64,
        parallel=64,
        least=8,
        large=Tiling(side=8, each=8, depth=8),
        small=Tiling(side=8, each=2, depth=8),
        enough=8,
    )

    def __init__(self) -> None:
        try:
            self.context = cl.create_some_context(interactive=False)
        except cl.Error as error:
            raise BackendUnavailableError(
                f"there is no OpenCL device ({error}). Install the driver of one; on Debian, "
                "`apt-get install pocl-opencl-icd` makes one of the processor."
            ) from error
        (self.device, *_) = self.context.devices
        if not self.device.double_fp_config:
            raise BackendUnavailableError(f"{self.device.name} has no numbers of 64 bits.")
        self.queue = cl.CommandQueue(self.context)
        # Warnings are about parentheses, and comparisons of a number with itself to find nan.
        self.prelude, self.options = PRELUDE, ["-w"]
        if self.device.platform.name == "Portable Computing Language":
            self.prelude, self.options = DECLARATIONS + PRELUDE, ["-w", OPTION]

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Return new memory."""
        size = max(count, 1) * dtype.itemsize
        return Memory(cl.Buffer(self.context, cl.mem_flags.READ_WRITE, size), count, dtype)

    def upload(self, values: npt.NDArray[Any]) -> Memory:
        """Copy an array to the device."""
        memory = self.allocate(values.size, element_type(values))
        if values.size:
            cl.enqueue_copy(self.queue, memory.buffer, values)
        return memory

    def download(self, memory: Memory, count: int) -> npt.NDArray[Any]:
        """Wait for the device, and copy the first elements to the host."""
        values = np.empty(count, memory.dtype.numpy)
        if count:
            cl.enqueue_copy(self.queue, values, memory.buffer)
        return values

    def reinterpreted(self, memory: Memory, dtype: DType) -> Memory:
        """Return the same bytes as whole elements of another type."""
        count = memory.count * memory.dtype.itemsize // dtype.itemsize
        return Memory(memory.buffer, count, dtype)

    def shares(self, a: Memory, b: Memory) -> bool:
        """Whether two memories are one."""
        return a.buffer is b.buffer

    def load(self, kernel: Kernel) -> Any:
        """Compile a kernel for the device."""
        try:
            program = cl.Program(self.context, self.prelude + to_c(kernel))
            return cl.Kernel(program.build(self.options), kernel.name)
        except cl.Error as error:
            raise KernelError(f"kernel {kernel.name} does not compile: {error}") from error

    def launch(
        self,
        loaded: Any,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Put a kernel into the queue."""
        arguments = [
            part.buffer
            if isinstance(part, Memory)
            else (np.int64(part) if isinstance(part, int) else part)
            for part in (*numbers, *operands)
        ]
        loaded(self.queue, (grid[0] * threads, grid[1]), (threads, 1), *arguments)

    def synchronize(self) -> None:
        """Wait for the queue."""
        self.queue.finish()

    def describe(self) -> str:
        """Name the device."""
        return f"{self.device.name.strip()}, {self.device.version.strip()}"


class OpenClOps(TunedOps):
    """The backend `cuda` on another machine."""

    name = "opencl"
    device = "opencl"


def create_backend() -> OpenClOps:
    """Return the backend; see `Device` for what is raised where there is none."""
    return OpenClOps(Device())
