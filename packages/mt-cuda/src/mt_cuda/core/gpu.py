"""The real machine: one NVIDIA GPU.

It does what the simulator does, on hardware. Kernels are compiled by `compiler.py`, once each,
and launched through `cuda.core`, which takes a microsecond where Numba's own dispatcher takes
twenty. Memory comes from the driver's pool, in the order of the stream: taking and giving back
waits for nothing. Everything runs on one stream, so the host only ever waits when it reads a
result.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Hashable, Sequence
from typing import Any, NoReturn

import numpy as np

from mt_cuda.core.compiler import compile_kernel
from mt_cuda.core.faults import CODE, NO_MEMORY, Faults, described
from mt_cuda.core.kernel import Kernel, define, numbers, operand
from mt_cuda.core.machine import Grid, Machine, Number, Size
from mt_cuda.core.matrix import LARGE, SMALL
from mt_tensor import DType
from mt_tensor.core.dtypes import DTYPES, Array
from mt_tensor.core.errors import BackendError, BackendUnavailableError
from mt_tensor.core.registry import ELSEWHERE

THREADS = 256
BLOCKS_PER_MULTIPROCESSOR = 32

REMEMBERED = 4096
"""How many ways to launch are remembered at most."""

LEARN = "To learn without a GPU, set MT_CUDA_SIM=1: the simulator runs the kernels in Python."
EXTRAS = ELSEWHERE["cuda"]


def size_of_gpu(multiprocessors: int) -> Size:
    """Return how work is spread over a GPU of so many multiprocessors."""
    return Size(
        threads=THREADS,
        resident=BLOCKS_PER_MULTIPROCESSOR * multiprocessors,
        parallel=1024,
        least=8,
        large=LARGE,
        small=SMALL,
        enough=multiprocessors,
    )


class Memory:
    """Memory on the device.

    Attributes:
        buffer: what `cuda.core` allocated; it goes back to the pool when it is forgotten.
        count: the number of elements.
        dtype: their type.
    """

    __slots__ = ("buffer", "count", "dtype")

    def __init__(self, buffer: Any, count: int, dtype: DType) -> None:
        self.buffer = buffer
        self.count = count
        self.dtype = dtype


class Loaded:
    """A kernel on the device.

    Attributes:
        kernel: its text and parameters.
        handle: what `cuda.core` launches.
        arrays: whether some operand is passed as an array, as Numba's compiler has it.
    """

    __slots__ = ("arrays", "handle", "kernel")

    def __init__(self, kernel: Kernel, handle: Any, arrays: bool) -> None:
        self.kernel = kernel
        self.handle = handle
        self.arrays = arrays


class Gpu(Machine):
    """The GPU that the driver calls number 0; `CUDA_VISIBLE_DEVICES` chooses another.

    Attributes:
        device: the device.
        stream: the stream that everything runs on.
        capability: its compute capability.

    Raises:
        BackendUnavailableError: there is no such GPU, driver or library.
    """

    def __init__(self) -> None:
        self._core, self._driver = _import_cuda()
        _check_driver(self._driver)
        self.device = self._core.Device()
        try:
            self.device.set_current()
            self.stream = self.device.create_stream()
        except Exception as error:  # noqa: BLE001 - whatever the driver says, it is the reason
            unavailable(f"the GPU cannot be used ({error})", "Check nvidia-smi.")
        self._faults = Faults(EXTRAS)
        self._pool = self._memory_resource()
        self._current = threading.local()
        self._current.is_set = True
        self._configs: dict[tuple[Grid, int], Any] = {}
        major, minor = self.device.compute_capability
        self.capability = (int(major), int(minor))
        multiprocessors = int(self.device.properties.multiprocessor_count)
        self.size = size_of_gpu(multiprocessors)
        self._try_out()

    def _memory_resource(self) -> Any:
        """Return what memory comes from."""
        return self.device.memory_resource

    def _try_out(self) -> None:
        """Run one small kernel, so that what is missing shows now."""
        float32 = DTYPES["float32"]
        kernel = define("one", [*numbers("n"), *operand("y", float32)], ["y[y_at] = float32(n)"])
        try:
            memory = self.allocate(1, float32)
            self.launch(self.load(kernel), (1, 1), 1, (1,), (memory, 0))
            worked = self.download(memory, 1)[0] == 1.0
        except BackendError as error:
            reason = str(error).splitlines()[0]
            unavailable(f"kernels do not run on {self.device.name}: {reason.rstrip('.')}")
        if not worked:
            unavailable(f"{self.device.name} computes wrong results", "Check driver and device.")

    # --- Memory ---------------------------------------------------------------------------------

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Take memory from the pool.

        Raises:
            OutOfMemoryError: there is none, also after what the pool kept has been given back.
        """
        self._make_current()
        size = max(count, 1) * dtype.itemsize
        try:
            buffer = self._pool.allocate(size, stream=self.stream)
        except Exception:  # noqa: BLE001 - of what class it is depends on the version of `cuda.core`
            buffer = self._allocate_again(size, count, dtype)
        return Memory(buffer, count, dtype)

    def _allocate_again(self, size: int, count: int, dtype: DType) -> Any:
        """Let go of what nobody needs, and try once more."""
        gc.collect()  # tensors that know each other
        self.synchronize()  # or it was another fault
        self._give_back()
        try:
            return self._pool.allocate(size, stream=self.stream)
        except Exception as error:
            reason = described(error)  # which need not have a code
            if CODE in reason and NO_MEMORY not in reason:
                raise self._faults.error("memory could not be allocated", reason) from error
            _, free, total = self._driver.cuMemGetInfo()
            raise self._faults.no_memory(count, dtype, free, total, self.device.name) from error

    def _give_back(self) -> None:
        """Let the driver have what its pool keeps for later."""
        pool = self.device.memory_resource
        if hasattr(pool, "handle"):  # else it keeps nothing
            self._driver.cuMemPoolTrimTo(pool.handle, 0)

    def upload(self, values: Array) -> Memory:
        """Copy an array to the device; it may be changed as soon as this returns."""
        dtype = next(d for d in DTYPES.values() if d.numpy == values.dtype)
        memory = self.allocate(values.size, dtype)
        if values.size:
            self._check(
                self._driver.cuMemcpyHtoDAsync(
                    int(memory.buffer.handle),
                    values.ctypes.data,
                    values.nbytes,
                    self.stream.handle,
                )
            )
            self.synchronize()
        return memory

    def download(self, memory: Memory, count: int) -> Array:
        """Wait for the device, and copy the first elements of a memory to the host."""
        return self.download_all([(memory, count)])[0]

    def download_all(self, parts: Sequence[tuple[Memory, int]]) -> list[Array]:
        """Wait for the device once, and copy the first elements of several memories."""
        self._make_current()
        copies = [np.empty(count, memory.dtype.numpy) for memory, count in parts]
        for (memory, _), values in zip(parts, copies, strict=True):
            if values.size:
                self._check(
                    self._driver.cuMemcpyDtoHAsync(
                        values.ctypes.data,
                        int(memory.buffer.handle),
                        values.nbytes,
                        self.stream.handle,
                    )
                )
        if any(values.size for values in copies):
            self.synchronize()
        return copies

    def reinterpreted(self, memory: Memory, dtype: DType) -> Memory:
        """Return the same bytes as whole elements of another type."""
        count = memory.count * memory.dtype.itemsize // dtype.itemsize
        return Memory(memory.buffer, count, dtype)

    def shares(self, a: Memory, b: Memory) -> bool:
        """Whether two memories may have bytes in common."""
        return a.buffer is b.buffer

    def identity(self, memory: Memory) -> Hashable:
        """Return the number of the allocation."""
        return id(memory.buffer)

    # --- Kernels --------------------------------------------------------------------------------

    def load(self, kernel: Kernel) -> Loaded:
        """Compile a kernel for this GPU and let the driver load it."""
        compiled = compile_kernel(kernel, self.capability)
        code = self._core.ObjectCode.from_ptx(compiled.ptx.encode(), name=kernel.name)
        arrays = any(parameter.passed == "array" for parameter in kernel.parameters)
        return Loaded(kernel, self._handle(code, compiled.entry), arrays)

    def _handle(self, code: Any, entry: str) -> Any:
        """Let the driver load compiled code, and find a kernel in it."""
        self._make_current()
        try:
            return code.get_kernel(entry)
        except Exception as error:
            action = f"the driver could not load kernel {code.name}"
            raise self._faults.error(action, described(error)) from error

    def launch(
        self,
        loaded: Loaded,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Put a kernel on the stream."""
        self._make_current()
        config = self._configs.get((grid, threads))
        if config is None:
            if len(self._configs) >= REMEMBERED:
                self._configs.clear()
            config = self._core.LaunchConfig(grid=(*grid, 1), block=(threads, 1, 1))
            self._configs[grid, threads] = config
        arguments = _flattened(loaded, operands) if loaded.arrays else self._pointers(operands)
        self._faults.waiting.append(loaded.kernel)
        try:
            self._core.launch(self.stream, config, loaded.handle, *numbers, *arguments)
        except Exception as error:
            blocks = f"{grid} blocks of {threads} threads"
            action = f"kernel {loaded.kernel.name} could not be launched with {blocks}"
            raise self._faults.error(action, described(error)) from error

    def _pointers(self, operands: Sequence[Any]) -> list[Any]:
        """Return what is passed for memories and positions: pointers and whole numbers."""
        return [part.buffer if isinstance(part, Memory) else part for part in operands]

    def synchronize(self) -> None:
        """Wait for the stream.

        Raises:
            DeviceLostError: a kernel failed; which one, as far as that is known.
        """
        self._make_current()
        try:
            self.stream.sync()
        except Exception as error:
            raise self._faults.error("a kernel failed", described(error)) from error
        self._faults.waiting.clear()

    # --- Measuring ------------------------------------------------------------------------------

    def mark(self) -> Any:
        """Return an event that happens when all work so far has been done."""
        status, event = self._driver.cuEventCreate(0)
        self._check((status,))
        self._check(self._driver.cuEventRecord(event, self.stream.handle))
        return event

    def between(self, before: Any, after: Any) -> float:
        """Wait for two marks, forget them, and return the time between them, in seconds."""
        self._check(self._driver.cuEventSynchronize(after))
        status, milliseconds = self._driver.cuEventElapsedTime(before, after)
        self._check((status,))
        for event in (before, after):
            self._check(self._driver.cuEventDestroy(event))
        return float(milliseconds) / 1e3

    def copy_memory(self, source: Memory, target: Memory) -> None:
        """Let the driver copy a memory: the rate to compare kernels with."""
        self._check(
            self._driver.cuMemcpyDtoDAsync(
                int(target.buffer.handle),
                int(source.buffer.handle),
                source.count * source.dtype.itemsize,
                self.stream.handle,
            )
        )

    def describe(self) -> str:
        """Name the GPU."""
        major, minor = self.capability
        multiprocessors = int(self.device.properties.multiprocessor_count)
        return f"{self.device.name}, compute capability {major}.{minor}, {multiprocessors} SMs"

    def _make_current(self) -> None:
        """Make the device current in this thread, once."""
        if not getattr(self._current, "is_set", False):
            self.device.set_current()
            self._current.is_set = True

    def _check(self, returned: tuple[Any, ...]) -> None:
        """Raise if a call of the driver failed."""
        status = returned[0]
        if status != self._driver.CUresult.CUDA_SUCCESS:
            raise self._faults.error("a call of the driver failed", status.name)


def _flattened(loaded: Loaded, operands: Sequence[Any]) -> list[Any]:
    """Return the same where some memories are passed as arrays.

    An array is seven parameters to Numba: two for the host's bookkeeping, number and size of the
    elements, the pointer, extent and stride.
    """
    parameters = loaded.kernel.parameters[-len(operands) :]
    arguments: list[Any] = []
    for parameter, part in zip(parameters, operands, strict=True):
        if parameter.passed == "array":
            count, width = part.count, part.dtype.itemsize
            arguments += [0, 0, count, width, part.buffer, count, width]
        else:
            arguments.append(part.buffer if isinstance(part, Memory) else part)
    return arguments


# --- Whether there is a GPU ---------------------------------------------------------------------


def unavailable(reason: str, advice: str = "") -> NoReturn:
    """Say that the backend cannot run here, why, and what to do."""
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


def _check_driver(driver: Any) -> None:
    """Raise unless there are a driver and a device."""
    install = "Install the NVIDIA driver, or use a machine that has a GPU."
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as error:  # cuda-bindings did not find the library
        reason = str(error).splitlines()[0].rstrip(".")
        unavailable(f"no NVIDIA driver was found ({reason})", install)
    if status == driver.CUresult.CUDA_ERROR_NO_DEVICE:
        unavailable("the NVIDIA driver finds no GPU", "Check CUDA_VISIBLE_DEVICES and nvidia-smi.")
    if status != driver.CUresult.CUDA_SUCCESS:
        unavailable(f"the NVIDIA driver does not start ({status.name})", "Check nvidia-smi.")
    _, version = driver.cuDriverGetVersion()
    if version // 1000 < driver.CUDA_VERSION // 1000:
        unavailable(
            f"the NVIDIA driver is for CUDA {version // 1000}.{version % 1000 // 10}, and the "
            f"libraries are for CUDA {driver.CUDA_VERSION // 1000}",
            f"Install those for the driver: {EXTRAS}. Or install a newer driver.",
        )
    status, count = driver.cuDeviceGetCount()
    if status != driver.CUresult.CUDA_SUCCESS or count == 0:
        unavailable("the NVIDIA driver finds no GPU", "Check CUDA_VISIBLE_DEVICES and nvidia-smi.")
