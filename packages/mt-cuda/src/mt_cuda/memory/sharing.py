"""Memory of a GPU that other libraries reach, without copies: torch, CuPy, Numba and their like.

Each library has a stream of its own, and those of the others must be told to wait.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from mt_cuda.core.gpu import Gpu, Memory
from mt_tensor import DType, TensorData
from mt_tensor.backends.extending import CUDA, SharedMemory

ALIGNED = 16
"""Kernels move so many bytes at a time, and trust that a storage begins at a multiple of them."""


class Borrowed(Memory):
    """Memory that belongs to another library."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """Where it lies: address, size in bytes, and who keeps it alive."""

    handle: int
    size: int
    owner: object


class LendingGpu(Gpu):
    """A GPU whose memory is also that of other libraries.

    Attributes:
        shared_memory: how they reach it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shared_memory = GpuMemory(self)

    def shares(self, a: Memory, b: Memory) -> bool:
        """Whether two memories have bytes in common, which others may have lent us twice."""
        if not (isinstance(a, Borrowed) or isinstance(b, Borrowed)):
            return super().shares(a, b)
        first: int = a.buffer.handle
        second: int = b.buffer.handle
        sizes: tuple[int, int] = a.buffer.size, b.buffer.size
        return first < second + sizes[1] and second < first + sizes[0]

    def identity(self, memory: Memory) -> Hashable:
        """Return the number of an allocation; what others have lent us may lie anywhere."""
        return None if isinstance(memory, Borrowed) else super().identity(memory)

    def borrowed(self, address: int, count: int, dtype: DType, owner: object) -> Memory:
        """Return elements that belong to another library, which `owner` keeps alive."""
        size = count * dtype.itemsize
        return Borrowed(Piece(address, size, owner), count, dtype)

    def let_wait(self, stream: int) -> None:
        """Let a stream of another library wait for all work until now."""
        self._make_current()
        event = self.mark()
        self._check(self._driver.cuStreamWaitEvent(stream, event, 0))
        self._check(self._driver.cuEventDestroy(event))


class GpuMemory(SharedMemory):
    """The memory of one GPU, in the words of stage 2."""

    def __init__(self, gpu: LendingGpu) -> None:
        self._gpu = gpu
        self.device = (CUDA, int(gpu.device.device_id))
        self.stream = int(gpu.stream.handle)

    def address(self, storage: Memory) -> int:
        """Return where a storage begins."""
        address: int = storage.buffer.handle
        return address

    def adopted(self, address: int, count: int, dtype: DType, owner: object) -> TensorData:
        """Return elements of somebody else's, in a storage that begins where one of ours could.

        The storage may begin before them: memory comes in larger pieces, and nobody looks there.
        """
        before = address % ALIGNED
        offset = before // dtype.itemsize
        memory = self._gpu.borrowed(address - before, offset + count, dtype, owner)
        return TensorData(memory, (count,), (1,), offset, dtype=dtype)

    def let_wait(self, stream: int) -> None:
        """Let another stream wait for all work of the backend until now."""
        self._gpu.let_wait(stream)
