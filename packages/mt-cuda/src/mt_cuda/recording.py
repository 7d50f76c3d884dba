"""A machine that records the calls of a backend, to count launches without a GPU.

The costs of a step on a GPU can be counted without one: the launches, the blocks of each launch
that can be distributed over multiprocessors, and the copies and synchronizations of the host. The
recorder has the size of an H100, so that the backend makes the same plans for it. By default it
runs nothing: it stores uploads, and every other element is zero. A training step whose control flow
does not depend on values continues as if they had been computed. If it does, the recorder can run
the kernels as the simulator does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from mt_cuda.core.elements import stored_type
from mt_cuda.core.gpu import size_of_gpu
from mt_cuda.core.kernel import Kernel
from mt_cuda.core.machine import Grid, Number
from mt_cuda.core.simulator import Memory, Order, Simulator
from mt_tensor import DType
from mt_tensor.extending import Array

MULTIPROCESSORS = 132
"""The number of multiprocessors of an H100."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A recorded launch of a kernel.

    Attributes:
        kernel: the kernel.
        grid: the number of blocks in each dimension.
        threads: the number of threads per block.
        numbers: the arguments that are passed by value, by name.
        elements: the number of elements of the largest allocation among the operands.
    """

    kernel: Kernel
    grid: Grid
    threads: int
    numbers: dict[str, Number]
    elements: int

    @property
    def blocks(self) -> int:
        """The total number of blocks."""
        return prod(self.grid)

    @property
    def operations(self) -> int:
        """The approximate number of elements or products that it computes; see `Kernel.work`."""
        if not self.kernel.work:
            return self.elements
        return prod(int(self.numbers[name]) for name in self.kernel.work)


@dataclass(slots=True)
class Record:
    """The calls that a recorder has received.

    Attributes:
        launches: every launch, in order.
        allocations: the number of allocations.
        uploads: the number of copies to the device.
        downloads: the number of copies to the host.
        downloaded: the number of elements copied to the host.
        synchronisations: how often the host waited for the device; copies are included.
    """

    launches: list[Launch] = field(default_factory=list)
    allocations: int = 0
    uploads: int = 0
    downloads: int = 0
    downloaded: int = 0
    synchronisations: int = 0

    def least_blocks(self, operations: int = 10_000_000) -> int | None:
        """Return the smallest number of blocks of the launches with more than `operations`.

        Return None if there is no such launch.
        """
        return min((x.blocks for x in self.launches if x.operations > operations), default=None)


class Recorder(Simulator):
    """A machine that records the calls of a backend, and can run the kernels.

    Args:
        order: the order in which the simulator runs threads; if None, no kernel is run.

    Attributes:
        record: the calls: the `launches`, and the numbers of `allocations`, `uploads`, `downloads`,
            `downloaded` elements and `synchronisations`.
    """

    size = size_of_gpu(MULTIPROCESSORS)

    def __init__(self, order: Order | None = None) -> None:
        super().__init__(order or "forward")
        self.record = Record()
        self._runs = order is not None

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Count an allocation; without running kernels, the memory contains zeros."""
        self.record.allocations += 1
        if self._runs:
            return super().allocate(count, dtype)
        return Memory(np.zeros(count, stored_type(dtype)), dtype)

    def upload(self, values: Array) -> Memory:
        """Count an upload, and the allocation and the synchronization that it takes."""
        self.record.allocations += 1
        self.record.uploads += 1
        self.record.synchronisations += 1
        return super().upload(values)

    def download(self, memory: Memory, count: int) -> Array:
        """Count a download, and the synchronization that it takes."""
        self.record.downloads += 1
        self.record.downloaded += count
        self.record.synchronisations += 1
        return super().download(memory, count)

    def download_all(self, parts: Sequence[tuple[Memory, int]]) -> list[Array]:
        """Count downloads with a single synchronization."""
        before = self.record.synchronisations
        copies = [self.download(memory, count) for memory, count in parts]
        self.record.synchronisations = before + 1
        return copies

    def load(self, kernel: Kernel) -> Any:
        """Return the kernel, and its program if kernels are run."""
        return kernel, super().load(kernel) if self._runs else None

    def launch(
        self,
        loaded: Any,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Record a launch, and run the kernel if kernels are run."""
        kernel, program = loaded
        names = [parameter.name for parameter in kernel.parameters]
        named = dict(zip(names, numbers, strict=False))
        elements = max(len(part.elements) for part in operands if isinstance(part, Memory))
        self.record.launches.append(Launch(kernel, grid, threads, named, elements))
        if self._runs:
            super().launch(program, grid, threads, numbers, operands)

    def synchronize(self) -> None:
        """Count a synchronization."""
        self.record.synchronisations += 1

    def describe(self) -> str:
        """Return a description of the recorder."""
        return f"recorded, for {MULTIPROCESSORS} multiprocessors"
