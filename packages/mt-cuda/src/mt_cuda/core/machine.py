"""What the backend asks of the machine that runs its kernels.

The kernels are written; from here on they run. There are two machines: `Simulator`,
which runs them in Python and is read first, and `Gpu`, a real one. The backend
chooses layouts and kernels and knows neither.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_cuda.core.kernel import Kernel
from mt_cuda.core.matrix import Tiling
from mt_tensor import DType

Grid = tuple[int, int]
"""How many blocks there are: along x, and along y."""

Number = int | np.generic
"""What is passed to a kernel by value."""


@dataclass(frozen=True, slots=True)
class Size:
    """How work is spread over a machine.

    Attributes:
        threads: threads in a block.
        resident: blocks of a loop over the grid; about as many as run at one time.
        parallel: blocks that a long fold is cut into at most. The same for every GPU, so that
            results do not depend on the GPU.
        least: how many elements of a fold are worth a thread.
        large: the tiling of a big matrix product.
        small: that of a small one.
        enough: tiles from which on a product is big.
    """

    threads: int
    resident: int
    parallel: int
    least: int
    large: Tiling
    small: Tiling
    enough: int


class Machine(ABC):
    """Memory, and kernels that work on it. All work is done in the order in which it is given.

    Attributes:
        size: how work is to be spread.
        shared_memory: how other libraries reach the memory; None if they cannot.
    """

    size: Size
    shared_memory: Any = None

    @abstractmethod
    def allocate(self, count: int, dtype: DType) -> Any:
        """Return memory for `count` elements, with arbitrary content."""

    @abstractmethod
    def upload(self, values: npt.NDArray[Any]) -> Any:
        """Return memory with the elements of a contiguous 1-D array; the array is copied."""

    @abstractmethod
    def download(self, memory: Any, count: int) -> npt.NDArray[Any]:
        """Wait for all work, and return the first `count` elements as a new 1-D array."""

    def download_all(self, parts: Sequence[tuple[Any, int]]) -> list[npt.NDArray[Any]]:
        """Return the first elements of several memories, each as `download` does.

        A machine that can wait once for all of them does.
        """
        return [self.download(memory, count) for memory, count in parts]

    @abstractmethod
    def reinterpreted(self, memory: Any, dtype: DType) -> Any:
        """Return the same bytes as whole elements of another type."""

    @abstractmethod
    def shares(self, a: Any, b: Any) -> bool:
        """Whether two memories may have bytes in common."""

    def identity(self, memory: Any) -> Hashable:
        """Return what all memories have in common that share bytes with this; None if unknown."""
        return None

    @abstractmethod
    def load(self, kernel: Kernel) -> Any:
        """Make a kernel ready to be launched.

        Raises:
            KernelError: it cannot be compiled or loaded.
        """

    @abstractmethod
    def launch(
        self,
        loaded: Any,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Start a kernel.

        Args:
            loaded: what `load` returned.
            grid: how many blocks.
            threads: how many threads in each.
            numbers: its numbers, in the order of its parameters; what is no int64 is a number of
                NumPy.
            operands: for each operand, its memory and the position of its first element.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until all work has been done.

        Raises:
            KernelError: a kernel failed.
        """

    @abstractmethod
    def describe(self) -> str:
        """Return the machine's name and what there is of it."""
