"""`Machine`: the interface through which the backend runs kernels.

There are two machines: `Simulator` runs kernels in Python, and `Gpu` on a GPU. The backend, which
chooses kernels, does not depend on either.
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
"""The number of blocks in the dimensions x and y."""

Number = int | np.generic
"""A kernel argument passed by value."""


@dataclass(frozen=True, slots=True)
class Size:
    """Launch sizes for a machine.

    Attributes:
        threads: the number of threads per block.
        resident: the largest number of blocks of a grid-stride loop, whose threads take several
            elements in turn if there are more.
        parallel: the largest number of blocks for a long fold. The same for every GPU, so that
            results do not depend on the GPU.
        least: the smallest number of elements of a fold per thread.
        large: the tiling of a large matrix product.
        small: the tiling of a small matrix product.
        enough: the smallest number of tiles of a large matrix product.
    """

    threads: int
    resident: int
    parallel: int
    least: int
    large: Tiling
    small: Tiling
    enough: int


class Machine(ABC):
    """A device with memory that runs kernels, in program order.

    Attributes:
        size: the launch sizes.
        shared_memory: the interface for other libraries to access the memory, or None.
    """

    size: Size
    shared_memory: Any = None

    @abstractmethod
    def allocate(self, count: int, dtype: DType) -> Any:
        """Allocate uninitialized memory for `count` elements."""

    @abstractmethod
    def upload(self, values: npt.NDArray[Any]) -> Any:
        """Copy a contiguous 1-D array to new memory."""

    @abstractmethod
    def download(self, memory: Any, count: int) -> npt.NDArray[Any]:
        """Wait for pending work, and return the first `count` elements as a new 1-D array."""

    def download_all(self, parts: Sequence[tuple[Any, int]]) -> list[npt.NDArray[Any]]:
        """Return the first elements of several allocations; see `download`.

        A machine may override it to wait only once.
        """
        return [self.download(memory, count) for memory, count in parts]

    @abstractmethod
    def reinterpreted(self, memory: Any, dtype: DType) -> Any:
        """Reinterpret memory as elements of another dtype."""

    @abstractmethod
    def shares(self, a: Any, b: Any) -> bool:
        """Return whether two allocations may overlap."""

    def identity(self, memory: Any) -> Hashable:
        """Return a key that is equal for all overlapping memory; None if it is unknown."""
        return None

    @abstractmethod
    def load(self, kernel: Kernel) -> Any:
        """Compile and load a kernel.

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
        """Launch a kernel.

        Args:
            loaded: the result of `load`.
            grid: the number of blocks.
            threads: the number of threads per block.
            numbers: its numbers, in the order of its parameters: ints for int64, NumPy scalars for
                other types.
            operands: for each operand, its memory and the position of its first element.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all pending work.

        Raises:
            KernelError: a kernel failed.
        """

    @abstractmethod
    def describe(self) -> str:
        """Return a description of the machine."""
