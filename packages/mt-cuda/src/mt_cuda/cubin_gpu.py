"""A GPU that runs what NVRTC compiles: the machine of the backend `cuda`.

Kernels come to it as machine code, written in C and compiled in a tenth of the time that Numba
takes; those of an earlier process come from disk. Numba is not needed. Memory is used again.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mt_cuda.core.gpu import Loaded, Memory
from mt_cuda.core.kernel import Kernel
from mt_cuda.cubins.cache import cubin
from mt_cuda.matrices.blas import Cublas, installed
from mt_cuda.memory.reuse import Reuse
from mt_cuda.memory.sharing import LendingGpu
from mt_tensor import DType


class CubinGpu(LendingGpu):
    """The GPU of the lesson, with another compiler, which passes all memory as pointers."""

    def load(self, kernel: Kernel) -> Loaded:
        """Hand a kernel as machine code to the driver."""
        code = self._core.ObjectCode.from_cubin(cubin(kernel, self.capability), name=kernel.name)
        return Loaded(kernel, self._handle(code, kernel.name), arrays=False)

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Take memory that is kept, if all is well; otherwise the driver is asked, and says so."""
        if self._faults.first is not None:
            self._pool.forget()
        return super().allocate(count, dtype)

    @functools.cached_property
    def _cublas(self) -> Cublas | None:
        self._make_current()
        return installed(int(self.stream.handle))

    def products(self) -> Cublas | None:
        """Return cuBLAS, if it is installed."""
        return self._cublas

    def _memory_resource(self) -> Any:
        return Reuse(super()._memory_resource())

    def _give_back(self) -> None:
        self._pool.forget()
        super()._give_back()

    def _pointers(self, operands: Sequence[Any]) -> list[Any]:
        return [part.buffer.handle if isinstance(part, Memory) else part for part in operands]
