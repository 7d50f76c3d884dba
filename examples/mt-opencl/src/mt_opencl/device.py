"""The machine: one OpenCL device, its memory, and kernels that are compiled for it."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from mt_cuda.extending import (
    CudaOps,
    Grid,
    Kernel,
    KernelError,
    Machine,
    Number,
    OutOfMemoryError,
    Size,
    Tiling,
    define,
    operand,
    to_c,
)
from mt_opencl.choice import check, chosen
from mt_opencl.declarations import DECLARATIONS, OPTION
from mt_opencl.prelude import PRELUDE
from mt_tensor import DType, float32
from mt_tensor.backends.extending import dtype_of
from mt_tensor.errors import BackendError, BackendUnavailableError

EXHAUSTED = (cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE, cl.status_code.OUT_OF_HOST_MEMORY)
"""Status codes of OpenCL for exhausted memory."""

FREE = (
    "Use smaller batches or a smaller network, delete tensors that are no longer needed, or record "
    "no graph (`with mt.no_grad()`)."
)


@dataclass(eq=False, slots=True)
class Memory:
    """Memory on the device.

    Attributes:
        buffer: the OpenCL buffer.
        count: the number of elements.
        dtype: the dtype of the elements.
    """

    buffer: Any
    count: int
    dtype: DType


class Device(Machine):
    """The first OpenCL device; with the variable `PYOPENCL_CTX=1` of pyopencl, the second.

    Raises:
        BackendUnavailableError: there is no device, or it lacks a feature that kernels use.
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
        self.context = chosen()
        (self.device, *_) = self.context.devices
        check(self.device, self.size.threads)
        self.queue = cl.CommandQueue(self.context)
        # The memory of a processor is the host's, and is allocated here: PoCL would abort the
        # program if it ran out of memory when a kernel is launched.
        host = self.device.type & cl.device_type.CPU
        self._flags = cl.mem_flags.READ_WRITE | (cl.mem_flags.ALLOC_HOST_PTR if host else 0)
        self._process = os.getpid()
        self._launching = threading.Lock()  # arguments belong to a kernel, not to its launch
        # Compilers warn about parentheses, and about tests for nan (`x != x`).
        dialects = [(PRELUDE, ["-w"])]
        if self.device.platform.name == "Portable Computing Language":
            dialects.insert(0, (DECLARATIONS + PRELUDE, ["-w", OPTION]))
        fault = ""
        for self.prelude, self.options in dialects:
            fault = self._fault()
            if not fault:
                return
        raise BackendUnavailableError(
            f"kernels do not run on {self.describe()}: {fault}. Check its driver."
        )

    def _fault(self) -> str:
        """Run a small kernel, and return why it does not work; an empty string if it does."""
        kernel = define("one", operand("y", float32), ["y[y_at] = float32(1)"])
        try:
            memory = self.allocate(1, float32)
            self.launch(self.load(kernel), (1, 1), 1, (), (memory, 0))
            return "" if self.download(memory, 1)[0] == 1 else "they give wrong results"
        except BackendError as error:
            return " ".join(str(error).split())

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Allocate memory.

        Raises:
            OutOfMemoryError: the device does not support allocations of this size, or its memory
                is exhausted.
            KernelError: the allocation failed for another reason.
        """
        size, most = max(count, 1) * dtype.itemsize, self.device.max_mem_alloc_size
        if size > most:
            raise OutOfMemoryError(
                f"{count:,} elements of {dtype.name} are {size / 2**20:,.1f} MiB; "
                f"{self.device.name} allocates at most {most / 2**20:,.1f} MiB at once. {FREE}"
            )
        try:
            buffer = cl.Buffer(self.context, self._flags, size)
        except cl.Error as error:
            action = f"{count:,} elements of {dtype.name} could not be allocated"
            raise self._failed(action, error) from error
        return Memory(buffer, count, dtype)

    def upload(self, values: npt.NDArray[Any]) -> Memory:
        """Copy an array to the device."""
        memory = self.allocate(values.size, dtype_of(values))
        if values.size:
            self._copy(memory.buffer, values)
        return memory

    def download(self, memory: Memory, count: int) -> npt.NDArray[Any]:
        """Wait for the device, and copy the first elements to the host."""
        values = np.empty(count, memory.dtype.numpy)
        if count:
            self._copy(values, memory.buffer)
        return values

    def _copy(self, target: Any, source: Any) -> None:
        """Copy from or to the device, after all queued commands."""
        self._check_process()
        try:
            cl.enqueue_copy(self.queue, target, source)
        except cl.Error as error:
            raise self._failed("a copy, or a kernel before it, failed", error) from error

    def reinterpreted(self, memory: Memory, dtype: DType) -> Memory:
        """Return the same memory as elements of another dtype."""
        count = memory.count * memory.dtype.itemsize // dtype.itemsize
        return Memory(memory.buffer, count, dtype)

    def shares(self, a: Memory, b: Memory) -> bool:
        """Return whether two memories have the same buffer."""
        return a.buffer is b.buffer

    def identity(self, memory: Memory) -> Hashable:
        """Return a number that identifies the allocation."""
        return id(memory.buffer)

    def load(self, kernel: Kernel) -> Any:
        """Compile a kernel for the device."""
        text = self.prelude + to_c(kernel)
        try:
            return cl.Kernel(cl.Program(self.context, text).build(self.options), kernel.name)
        except cl.Error as error:
            raise self._failed(f"kernel {kernel.name} does not compile", error) from error

    def launch(
        self,
        loaded: Any,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Enqueue a kernel."""
        self._check_process()
        arguments = [
            part.buffer
            if isinstance(part, Memory)
            else (np.int64(part) if isinstance(part, int) else part)
            for part in (*numbers, *operands)
        ]
        try:
            with self._launching:
                loaded(self.queue, (grid[0] * threads, grid[1]), (threads, 1), *arguments)
        except cl.Error as error:
            blocks = f"{grid[0]} by {grid[1]} blocks of {threads} threads"
            action = f"kernel {loaded.function_name} could not be launched with {blocks}"
            raise self._failed(action, error) from error

    def synchronize(self) -> None:
        """Wait until all enqueued kernels and copies have finished."""
        self._check_process()
        try:
            self.queue.finish()
        except cl.Error as error:
            raise self._failed("a kernel failed", error) from error

    def _check_process(self) -> None:
        """Raise KernelError in a forked process: it has no threads that run the queue."""
        if os.getpid() != self._process:
            raise KernelError(
                f"{self.device.name} is used by the process that this one was forked from. Start "
                'processes with the method "spawn", or use the backend in one process only.'
            )

    def _failed(self, action: str, error: cl.Error) -> BackendError:
        """Return the error for a failed action, given OpenCL's exception."""
        if error.code in EXHAUSTED:
            return OutOfMemoryError(f"{action}: {self.device.name} has no memory left. {FREE}")
        return KernelError(f"{action} on {self.device.name}: {error}")

    def describe(self) -> str:
        """Return the name and the version of the device."""
        return f"{self.device.name.strip()}, {self.device.version.strip()}"


class OpenClOps(CudaOps):
    """The backend `cuda` on an OpenCL device."""

    name = "opencl"
    device = "opencl"


def create_backend() -> OpenClOps:
    """Return the backend; see `Device` for errors."""
    return OpenClOps(Device())
