"""A GPU that runs what NVRTC compiles: the machine of the backend `cuda`.

Kernels come to it as machine code, written in C and compiled in a tenth of the time that Numba
takes; those of an earlier process come from disk. Numba is not needed.
"""

from __future__ import annotations

from mt_cuda.gpu import Loaded
from mt_cuda.kernel import Kernel
from mt_cuda.library.cache import cubin
from mt_cuda.library.sharing import LendingGpu


class CubinGpu(LendingGpu):
    """The GPU of the lesson, with another compiler, which passes all memory as pointers."""

    def load(self, kernel: Kernel) -> Loaded:
        """Hand a kernel as machine code to the driver."""
        code = self._core.ObjectCode.from_cubin(cubin(kernel, self.capability), name=kernel.name)
        return Loaded(kernel, self._handle(code, kernel.name), arrays=False)
