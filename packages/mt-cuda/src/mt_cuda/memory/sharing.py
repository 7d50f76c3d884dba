"""Access to GPU memory by other libraries without copies: torch, CuPy, Numba and others.

Each library has its own stream, and streams have to wait for each other.
"""

from __future__ import annotations

from mt_cuda.core.gpu import Gpu, Memory
from mt_cuda.core.tables import GPU
from mt_tensor import DType, TensorData
from mt_tensor.backends.extending import CUDA, SharedMemory

ALIGNED = 16
"""The alignment of storages that kernels rely on when they move 16 bytes at a time."""


class GpuMemory(SharedMemory):
    """The memory of one GPU, with the interface of stage 2."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.device = (CUDA, int(gpu.device.device_id))
        self.stream = int(gpu.stream.handle)

    def address(self, storage: Memory) -> int:
        """Return the address of a storage."""
        self._gpu.not_recorded("calls a library")
        return storage.address

    def from_address(self, address: int, count: int, dtype: DType, owner: object) -> TensorData:
        """Return elements of another library as a view of an aligned storage.

        The storage may start before the elements, which are part of a larger allocation.
        """
        before = address % ALIGNED
        offset = before // dtype.itemsize
        memory = Memory(address - before, offset + count, dtype, owner, borrowed=True)
        return TensorData(memory, (count,), (1,), offset, dtype=dtype)

    def make_stream_wait(self, stream: int) -> None:
        """Make another stream wait for all work of the backend that was launched so far."""
        self._gpu.make_current()
        driver, check = self._gpu.driver, self._gpu.check
        status, event = driver.cuEventCreate(0)
        check((status,))
        check(driver.cuEventRecord(event, self._gpu.stream.handle))
        check(driver.cuStreamWaitEvent(stream, event, 0))
        check(driver.cuEventDestroy(event))


GPU["shared_memory"] = GpuMemory
