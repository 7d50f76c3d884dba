"""A GPU that runs what NVRTC compiles: the machine of the backend `cuda`.

Kernels come to it as machine code, written in C and compiled in a tenth of the time that Numba
takes; those of an earlier process come from disk. Numba is not needed. Its memory is shared with
other libraries, which have streams of their own.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.gpu import Gpu, Loaded, Memory
from mt_cuda.kernel import Kernel
from mt_cuda.library.cache import cubin
from mt_cuda.library.sharing import GpuMemory


class CubinGpu(Gpu):
    """The GPU of the lesson, with another compiler, which passes all memory as pointers.

    Attributes:
        shared_memory: how other libraries reach its memory.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shared_memory = GpuMemory(self)

    def load(self, kernel: Kernel) -> Loaded:
        """Hand a kernel as machine code to the driver."""
        code = self._core.ObjectCode.from_cubin(cubin(kernel, self.capability), name=kernel.name)
        return Loaded(kernel, self._handle(code, kernel.name), arrays=False)

    def shares(self, a: Memory, b: Memory) -> bool:
        """Whether two memories have bytes in common, which others may have lent us twice."""
        first, second = int(a.buffer.handle), int(b.buffer.handle)
        sizes: tuple[int, int] = a.buffer.size, b.buffer.size
        return first < second + sizes[1] and second < first + sizes[0]

    def borrowed(self, address: int, size: int, owner: object) -> Any:
        """Return so many bytes that belong to another library, which `owner` keeps alive."""
        return self._core.Buffer.from_handle(address, size, owner=owner)

    def let_wait(self, stream: int) -> None:
        """Let a stream of another library wait for all work until now."""
        self._make_current()
        event = self.mark()
        self._check(self._driver.cuStreamWaitEvent(stream, event, 0))
        self._check(self._driver.cuEventDestroy(event))
