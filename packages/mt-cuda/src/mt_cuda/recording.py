"""A machine that records what a backend asks of it: how a step is counted without a GPU.

What a GPU waits for can be seen before there is one: how often it is launched, how many blocks each
launch has to spread over its multiprocessors, and how often the host sends it something or waits.
The recorder has the size of an H100, so that the backend makes the same plans for it. By itself it
runs nothing: it keeps what was uploaded, and every other element is zero. A step of training whose
course does not depend on its values goes on as if they had been computed. Where it does, the
recorder runs the kernels as the simulator does.
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
        downloaded: how many elements that were.
        synchronisations: how often the host waited for the device; copies are among them.
    """

    launches: list[Launch] = field(default_factory=list)
    allocations: int = 0
    uploads: int = 0
    downloads: int = 0
    downloaded: int = 0
    synchronisations: int = 0

    def least_blocks(self, operations: int = 10_000_000) -> int | None:
        """Return the fewest blocks of a launch of more operations than that; None without any."""
        return min((x.blocks for x in self.launches if x.operations > operations), default=None)


class Recorder(Simulator):
    """Record what a backend asks of a machine.

    Args:
        order: how the simulator runs the kernels; if None, no kernel is run.

    Attributes:
        record: what has been asked since this was set to a new `Record`.
    """

    size = size_of_gpu(MULTIPROCESSORS)

    def __init__(self, order: Order | None = None) -> None:
        super().__init__(order or "forward")
        self.record = Record()
        self._runs = order is not None

    def allocate(self, count: int, dtype: DType) -> Memory:
        """Count an allocation; memory stays zero unless a kernel runs."""
        self.record.allocations += 1
        if self._runs:
            return super().allocate(count, dtype)
        return Memory(np.zeros(count, stored_type(dtype)), dtype)

    def upload(self, values: Array) -> Memory:
        """Count an upload, which waits until the array may be changed."""
        self.record.allocations += 1
        self.record.uploads += 1
        self.record.synchronisations += 1
        return super().upload(values)

    def download(self, memory: Memory, count: int) -> Array:
        """Count a download."""
        self.record.downloads += 1
        self.record.downloaded += count
        self.record.synchronisations += 1
        return super().download(memory, count)

    def download_all(self, parts: Sequence[tuple[Memory, int]]) -> list[Array]:
        """Count downloads for which the host waits once."""
        before = self.record.synchronisations
        copies = [self.download(memory, count) for memory, count in parts]
        self.record.synchronisations = before + 1
        return copies

    def load(self, kernel: Kernel) -> Any:
        """Return the kernel, and what runs it."""
        return kernel, super().load(kernel) if self._runs else None

    def launch(
        self,
        loaded: Any,
        grid: Grid,
        threads: int,
        numbers: Sequence[Number],
        operands: Sequence[Any],
    ) -> None:
        """Record a launch."""
        kernel, program = loaded
        names = [parameter.name for parameter in kernel.parameters]
        named = dict(zip(names, numbers, strict=False))
        elements = max(len(part.elements) for part in operands if isinstance(part, Memory))
        self.record.launches.append(Launch(kernel, grid, threads, named, elements))
        if self._runs:
            super().launch(program, grid, threads, numbers, operands)

    def synchronize(self) -> None:
        """Count a synchronisation."""
        self.record.synchronisations += 1

    def describe(self) -> str:
        """Say that this is no GPU."""
        return f"written down, for {MULTIPROCESSORS} multiprocessors"
