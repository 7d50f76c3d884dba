"""Memory of a GPU that other libraries reach, without copies: torch, CuPy, Numba and their like.

Each library has a stream of its own, and those of the others must be told to wait.
"""

from __future__ import annotations

from mt_cuda.core.gpu import Gpu, Memory
from mt_cuda.core.tables import GPU
from mt_tensor import DType, TensorData
from mt_tensor.backends.extending import CUDA, SharedMemory

ALIGNED = 16
"""Kernels move so many bytes at a time, and trust that a storage begins at a multiple of them."""


class GpuMemory(SharedMemory):
    """The memory of one GPU, in the words of stage 2."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.device = (CUDA, int(gpu.device.device_id))
        self.stream = int(gpu.stream.handle)

    def address(self, storage: Memory) -> int:
        """Return where a storage begins."""
        return storage.address

    def adopted(self, address: int, count: int, dtype: DType, owner: object) -> TensorData:
        """Return elements of somebody else's, in a storage that begins where one of ours could.

        The storage may begin before them: memory comes in larger pieces, only partly used.
        """
        before = address % ALIGNED
        offset = before // dtype.itemsize
        memory = Memory(address - before, offset + count, dtype, owner, borrowed=True)
        return TensorData(memory, (count,), (1,), offset, dtype=dtype)

    def let_wait(self, stream: int) -> None:
        """Let another stream wait for all work of the backend until now."""
        self._gpu.make_current()
        driver, check = self._gpu.driver, self._gpu.check
        status, event = driver.cuEventCreate(0)
        check((status,))
        check(driver.cuEventRecord(event, self._gpu.stream.handle))
        check(driver.cuStreamWaitEvent(stream, event, 0))
        check(driver.cuEventDestroy(event))


GPU["shared_memory"] = GpuMemory
