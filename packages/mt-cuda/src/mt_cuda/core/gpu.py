"""The machine that runs kernels on an NVIDIA GPU.

Each kernel is compiled once, by `compiler.py` or a registered compiler, and launched through
`cuda.core`, which takes one microsecond; Numba's dispatcher takes twenty. Memory comes from the
driver's stream-ordered pool, so that allocation and deallocation never wait. Everything runs on one
stream, so the host only waits when it reads a result.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np

from mt_cuda.core.compiler import compile_kernel
from mt_cuda.core.errors import KernelError, OutOfMemoryError
from mt_cuda.core.kernel import Kernel
from mt_cuda.core.machine import Grid, Machine, Number, Size
from mt_cuda.core.matrix import LARGE, SMALL
from mt_cuda.core.tables import GPU
from mt_tensor import DType
from mt_tensor.core.dtypes import DTYPES, Array
from mt_tensor.core.errors import BackendUnavailableError

THREADS = 256
BLOCKS_PER_MULTIPROCESSOR = 32

CACHE_SIZE = 4096
"""The number of cached launch configurations."""

SUSPECTS = 8
"""The number of recently launched kernels that error messages list."""

LEARN = "To learn without a GPU, set MT_CUDA_SIM=1: the simulator runs the kernels in Python."
EXTRAS = "pip install 'mt-cuda[cu13]' (or mt-cuda[cu12] if the driver supports only CUDA 12)"


def size_of_gpu(multiprocessors: int) -> Size:
    """Return the launch sizes for a GPU with this number of multiprocessors."""
    return Size(
        threads=THREADS,
        resident=BLOCKS_PER_MULTIPROCESSOR * multiprocessors,
        parallel=1024,
        least=8,
        large=LARGE,
        small=SMALL,
        enough=multiprocessors,
    )


@dataclass(eq=False, slots=True)
class Memory:
    """Device memory.

    Attributes:
        address: the start address.
        count: the number of elements.
        dtype: the dtype of the elements.
        owner: the object that keeps it allocated: a buffer of `cuda.core` or of another library.
        borrowed: whether it belongs to another library.
    """

    address: int
    count: int
    dtype: DType
    owner: Any
    borrowed: bool = False

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.count * self.dtype.itemsize


class _Thread(threading.local):
    """Thread-local state: whether the device is current, and the recorder (`graphs/`) or None."""

    is_current = False
    recording: Any = None


@dataclass(eq=False, slots=True)
class Loaded:
    """A loaded kernel.

    Attributes:
        kernel: the kernel.
        handle: the kernel object of `cuda.core`.
        arrays: whether an operand is passed as a Numba array.
    """

    kernel: Kernel
    handle: Any
    arrays: bool


class Gpu(Machine):
    """The GPU with device number 0; `CUDA_VISIBLE_DEVICES` selects another.

    Attributes:
        core: the module `cuda.core`.
        driver: the driver's functions.
        device: the device.
        stream: the stream of all work.
        pool: the memory pool.
        capability: the compute capability.
        waiting: the last kernels or graphs launched since the host waited for the device.
        thread: the state of this thread.
        parts: the entries of `GPU` at creation.

    Raises:
        BackendUnavailableError: the GPU, its driver or a library is missing.
    """

    def __init__(self) -> None:
        self.parts = dict(GPU)
        self.core, self.driver = _import_cuda()
        self._part("check")
        self.device = self.core.Device()
        try:
            self.device.set_current()
            self.stream = self.device.create_stream()
        except Exception as error:  # noqa: BLE001 - the message includes any error
            unavailable(f"the GPU cannot be used ({error})", "Check nvidia-smi.")
        self.waiting: deque[Any] = deque(maxlen=SUSPECTS)
        resource = self.device.memory_resource
        self.pool = self.parts["pool"](resource) if "pool" in self.parts else resource
        self.thread = _Thread()
        self.thread.is_current = True
        self._configs: dict[tuple[Grid, int], Any] = {}
        major, minor = self.device.compute_capability
        self.capability = (int(major), int(minor))
        self.size = size_of_gpu(int(self.device.properties.multiprocessor_count))
        self.shared_memory = self._part("shared_memory")
        self._part("try_out")

    def _part(self, name: str, *arguments: Any) -> Any:
        """Call the function registered in `GPU` under a name; return None if there is none."""
        part = self.parts.get(name)
        return part and part(self, *arguments)

    # --- Memory ---------------------------------------------------------------------------------

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Allocate memory from the pool.

        Raises:
            OutOfMemoryError: there is not enough memory.
        """
        if self.thread.recording is not None:
            return cast(Memory, self.thread.recording.allocate(count, dtype))
        self.make_current()
        size = max(count, 1) * dtype.itemsize
        try:
            buffer = self.pool.allocate(size, stream=self.stream)
        except Exception as error:  # its class depends on the version of `cuda.core`
            buffer = self._part("allocate_again", size, count, dtype)
            if buffer is None:
                message = f"no memory for {count:,} elements of {dtype.name}: {error}"
                raise OutOfMemoryError(message) from error
        return Memory(int(buffer.handle), count, dtype, buffer)

    def upload(self, values: Array) -> Memory:
        """Copy an array to the device; the array may be changed afterwards."""
        self.not_recorded("copies elements to the device")
        dtype = next(d for d in DTYPES.values() if d.numpy == values.dtype)
        memory = self.allocate(values.size, dtype)
        if values.size:
            source, size = values.ctypes.data, values.nbytes
            self.check(
                self.driver.cuMemcpyHtoDAsync(memory.address, source, size, self.stream.handle)
            )
            self.synchronize()
        return memory

    def download(self, memory: Memory, count: int) -> Array:
        """Wait for the device, and copy the first `count` elements of an allocation to the host."""
        return self.download_all([(memory, count)])[0]

    def download_all(self, parts: Sequence[tuple[Memory, int]]) -> list[Array]:
        """Wait for the device once, and copy the first elements of several allocations."""
        self.not_recorded("copies elements to the host")
        copies = [np.empty(count, memory.dtype.numpy) for memory, count in parts]
        for (memory, _), values in zip(parts, copies, strict=True):
            if values.size:
                target, size = values.ctypes.data, values.nbytes
                self.check(
                    self.driver.cuMemcpyDtoHAsync(target, memory.address, size, self.stream.handle)
                )
        if any(values.size for values in copies):
            self.synchronize()
        return copies

    def reinterpreted(self, memory: Memory, dtype: DType) -> Memory:
        """Reinterpret memory as elements of another dtype."""
        count = memory.count * memory.dtype.itemsize // dtype.itemsize
        return Memory(memory.address, count, dtype, memory.owner, memory.borrowed)

    def shares(self, a: Memory, b: Memory) -> bool:
        """Return whether two allocations overlap; only borrowed memory may overlap partially."""
        if not (a.borrowed or b.borrowed):
            return a.owner is b.owner
        return (
            a.address < b.address + b.count * b.dtype.itemsize
            and b.address < a.address + a.count * a.dtype.itemsize
        )

    def identity(self, memory: Memory) -> Hashable:
        """Return the identity of the allocation; None for borrowed memory."""
        return None if memory.borrowed else id(memory.owner)

    # --- Kernels --------------------------------------------------------------------------------

    def load(self, kernel: Kernel) -> Loaded:
        """Compile and load a kernel."""
        loaded: Loaded | None = self._part("load", kernel)
        if loaded is not None:
            return loaded
        compiled = compile_kernel(kernel, self.capability)
        code = self.core.ObjectCode.from_ptx(compiled.ptx.encode(), name=kernel.name)
        arrays = any(parameter.passed == "array" for parameter in kernel.parameters)
        return Loaded(kernel, self.handle(code, compiled.entry), arrays)

    def handle(self, code: Any, entry: str) -> Any:
        """Load compiled code, and return its kernel with the given entry point."""
        self.make_current()
        try:
            return code.get_kernel(entry)
        except Exception as error:
            action = f"the driver could not load kernel {code.name}"
            raise self.error(action, described(error)) from error

    def launch(
        self,
        loaded: Loaded,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Enqueue a kernel on the stream."""
        if self.thread.recording is not None:
            self.thread.recording.launch(loaded, grid, threads, numbers, operands)
            return
        self.make_current()
        config = self._configs.get((grid, threads))
        if config is None:
            if len(self._configs) >= CACHE_SIZE:
                self._configs.clear()
            config = self.core.LaunchConfig(grid=(*grid, 1), block=(threads, 1, 1))
            self._configs[grid, threads] = config
        arguments = arguments_of(loaded, operands)
        self.waiting.append(loaded.kernel)
        try:
            self.core.launch(self.stream, config, loaded.handle, *numbers, *arguments)
        except Exception as error:
            blocks = f"{grid} blocks of {threads} threads"
            action = f"kernel {loaded.kernel.name} could not be launched with {blocks}"
            raise self.error(action, described(error)) from error

    def synchronize(self) -> None:
        """Wait for the stream.

        Raises:
            KernelError: a kernel failed, one of those in `waiting`.
        """
        self.not_recorded("waits for the device")
        try:
            self.stream.sync()
        except Exception as error:
            raise self.error("a kernel failed", described(error)) from error
        self.waiting.clear()

    def describe(self) -> str:
        """Return the name of the GPU."""
        major, minor = self.capability
        multiprocessors = int(self.device.properties.multiprocessor_count)
        return f"{self.device.name}, compute capability {major}.{minor}, {multiprocessors} SMs"

    def make_current(self) -> None:
        """Make the device current in this thread, unless it already is."""
        if not self.thread.is_current:
            self.device.set_current()
            self.thread.is_current = True

    def not_recorded(self, action: str) -> None:
        """Make the device current for an action other than a launch; raise while recording."""
        if self.thread.recording is not None:
            raise KernelError(f"it {action}")
        self.make_current()

    def check(self, returned: tuple[Any, ...]) -> None:
        """Raise KernelError if a driver call failed."""
        status = returned[0]
        if status != self.driver.CUresult.CUDA_SUCCESS:
            raise self.error("a driver call failed", status.name)

    def error(self, action: str, reason: str) -> KernelError:
        """Return the error for an action that failed in the driver."""
        found: KernelError | None = self._part("error", action, reason)
        return found or KernelError(f"{action} ({reason}).")


def arguments_of(loaded: Loaded, operands: Sequence[Any]) -> list[Any]:
    """Return the arguments for operands, some of which may be passed as Numba arrays.

    A Numba array is seven parameters: two for the host's bookkeeping, the number and size of the
    elements, the address, the shape and the stride.
    """
    if not loaded.arrays:
        return [x.address if isinstance(x, Memory) else x for x in operands]
    parameters = loaded.kernel.parameters[-len(operands) :]
    arguments: list[Any] = []
    for parameter, part in zip(parameters, operands, strict=True):
        if parameter.passed == "array":
            count, width = part.count, part.dtype.itemsize
            arguments += [0, 0, count, width, part.address, count, width]
        else:
            arguments.append(part.address if isinstance(part, Memory) else part)
    return arguments


def described(error: Any) -> str:
    """Return the message of an exception of `cuda.core` on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def unavailable(reason: str, advice: str = "") -> NoReturn:
    """Raise BackendUnavailableError with a reason and advice."""
    raise BackendUnavailableError(" ".join([f"{reason}.", *([advice] if advice else []), LEARN]))


def _import_cuda() -> tuple[Any, Any]:
    """Import the libraries; return `cuda.core` and the driver's bindings."""
    if sys.platform == "darwin":
        unavailable("there is no CUDA for macOS", "Use a machine with an NVIDIA GPU.")
    try:
        from cuda import core
        from cuda.bindings import driver
    except ImportError as error:
        unavailable(f"the CUDA libraries cannot be imported ({error})", f"Install them: {EXTRAS}.")
    return core, driver
