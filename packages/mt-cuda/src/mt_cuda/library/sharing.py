"""Memory of a GPU that other libraries reach, without copies: torch, CuPy, Numba and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mt_cuda.gpu import Memory
from mt_tensor import DType, TensorData
from mt_tensor.backends.extending import CUDA, SharedMemory

if TYPE_CHECKING:
    from mt_cuda.library.gpu import CubinGpu

ALIGNED = 16
"""Kernels move so many bytes at a time, and trust that a storage begins at a multiple of them."""


class GpuMemory(SharedMemory):
    """The memory of one GPU."""

    def __init__(self, gpu: CubinGpu) -> None:
        self._gpu = gpu
        self.device = (CUDA, int(gpu.device.device_id))
        self.stream = int(gpu.stream.handle)

    def address(self, storage: Memory) -> int:
        """Return where a storage begins."""
        return int(storage.buffer.handle)

    def adopted(self, address: int, count: int, dtype: DType, owner: object) -> TensorData:
        """Return elements of somebody else's, in a storage that begins where one of ours could.

        The storage may begin before them: memory comes in larger pieces, and nobody looks there.
        """
        offset = address % ALIGNED // dtype.itemsize
        whole = offset + count
        buffer = self._gpu.borrowed(address - address % ALIGNED, whole * dtype.itemsize, owner)
        return TensorData(Memory(buffer, whole, dtype), (count,), (1,), offset, dtype=dtype)

    def let_wait(self, stream: int) -> None:
        """Let another stream wait for all work of the backend until now."""
        self._gpu.let_wait(stream)
