"""A machine that runs nothing and writes down what it is told: how a step is counted without a GPU.

What a GPU waits for can be seen before there is one: how often it is launched, how many blocks each
launch has to spread over its multiprocessors, and how often the host sends it something or waits.
The recorder has the size of an H100, so that the backend makes the same plans for it. It remembers
what was uploaded, and every other element is zero: a step of training whose course does not hang on
its values goes on as if they had been computed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from mt_cuda.gpu import size_of_gpu
from mt_cuda.kernel import Kernel
from mt_cuda.machine import Grid, Machine, Number
from mt_tensor import DType
from mt_tensor.backends.extending import element_type
from mt_tensor.extending import Array

MULTIPROCESSORS = 132
"""Those of an H100."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch.

    Attributes:
        kernel: what was launched.
        grid: how many blocks.
        threads: how many threads in each.
        numbers: the numbers that it was given, by name.
        elements: how many elements the largest memory has that it was given.
    """

    kernel: Kernel
    grid: Grid
    threads: int
    numbers: dict[str, Number]
    elements: int

    @property
    def blocks(self) -> int:
        """How many blocks there are in all."""
        return prod(self.grid)

    @property
    def operations(self) -> int:
        """About how many elements or products it computes; see `Kernel.work`."""
        if not self.kernel.work:
            return self.elements
        return prod(int(self.numbers[name]) for name in self.kernel.work)


@dataclass(slots=True)
class Record:
    """What a machine was told.

    Attributes:
        launches: every launch, in order.
        allocations: how often memory was taken.
        uploads: how often something was copied to the device.
        downloads: how often something was copied to the host.
        synchronisations: how often the host waited for the device; copies are among them.
    """

    launches: list[Launch] = field(default_factory=list)
    allocations: int = 0
    uploads: int = 0
    downloads: int = 0
    synchronisations: int = 0

    def least_blocks(self, operations: int = 10_000_000) -> int | None:
        """Return the fewest blocks of a launch of more operations than that; None without any."""
        return min((x.blocks for x in self.launches if x.operations > operations), default=None)


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory that is only spoken of.

    Attributes:
        count: the number of elements.
        dtype: their type.
        uploaded: what was copied there, if anything was.
    """

    count: int
    dtype: DType
    uploaded: Array | None = None


class Recorder(Machine):
    """Writes down what it is told.

    Attributes:
        record: what it has been told since this was set to a new `Record`.
    """

    size = size_of_gpu(MULTIPROCESSORS)

    def __init__(self) -> None:
        self.record = Record()

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Count an allocation."""
        self.record.allocations += 1
        return Memory(count, dtype)

    def upload(self, values: Array) -> Memory:
        """Count an upload, which waits until the array may be changed."""
        self.record.allocations += 1
        self.record.uploads += 1
        self.record.synchronisations += 1
        return Memory(values.size, element_type(values), values.copy())

    def download(self, memory: Memory, count: int) -> Array:
        """Count a download; return what was uploaded, or else zeros."""
        self.record.downloads += 1
        self.record.synchronisations += 1
        if memory.uploaded is None:
            return np.zeros(count, memory.dtype.numpy)
        return memory.uploaded[:count].copy()

    def download_all(self, parts: Sequence[tuple[Memory, int]]) -> list[Array]:
        """Count downloads for which the host waits once."""
        before = self.record.synchronisations
        copies = [self.download(memory, count) for memory, count in parts]
        self.record.synchronisations = before + 1
        return copies

    def reinterpreted(self, memory: Memory, dtype: DType) -> Memory:
        """Return a memory of as many bytes."""
        return Memory(memory.count * memory.dtype.itemsize // dtype.itemsize, dtype)

    def shares(self, a: Memory, b: Memory) -> bool:
        """Whether two memories are one."""
        return a is b

    def identity(self, memory: Memory) -> Hashable:
        """Return the number of the memory."""
        return id(memory)

    def load(self, kernel: Kernel) -> Kernel:
        """Return the kernel as it is."""
        return kernel

    def launch(
        self,
        loaded: Kernel,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Write a launch down."""
        names = [parameter.name for parameter in loaded.parameters]
        self.record.launches.append(
            Launch(
                loaded,
                grid,
                threads,
                dict(zip(names, numbers, strict=False)),
                max(part.count for part in operands if isinstance(part, Memory)),
            )
        )

    def synchronize(self) -> None:
        """Count a synchronisation."""
        self.record.synchronisations += 1

    def describe(self) -> str:
        """Say that this is no GPU."""
        return f"written down, for {MULTIPROCESSORS} multiprocessors"
