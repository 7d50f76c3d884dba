"""Reductions of any layout: nested loops over kept and reduced dimensions, and kernel calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_operators import Operator
from mt_tensor import DType
from mt_tensor.extending import size_of

NESTED = 3
"""The number of reduced dimensions of a kernel."""

SOURCE, OUT = 0, 1
"""The storages of a plan; those of partial results follow."""


@dataclass(frozen=True, slots=True)
class Step:
    """A kernel call, except for the storages among its arguments.

    Attributes:
        kernel: the kernel.
        units: the number of units of work.
        parallel: whether all threads share them.
        before: the arguments before the storage that is read.
        source: the number of that storage, and the arguments after it.
        out: the number of the storage that is written, and the arguments after it.
    """

    kernel: Kernel
    units: int
    parallel: bool
    before: tuple[Any, ...]
    source: tuple[int, tuple[Any, ...]]
    out: tuple[int, tuple[Any, ...]]

    def run(self, storages: list[Any]) -> None:
        """Call the kernel."""
        (read, source), (written, out) = self.source, self.out
        views = (storages[read], *source, storages[written], *out)
        self.kernel.run(self.units, self.parallel, *self.before, *views)


@dataclass(frozen=True, slots=True)
class Plan:
    """A reduction as a few kernel calls.

    Attributes:
        steps: the calls.
        partial_sizes: the size of each storage of partial results.
    """

    steps: tuple[Step, ...]
    partial_sizes: tuple[int, ...] = ()

    def run(self, source: Any, out: Any) -> None:
        """Reduce the elements of a storage, and write the results to another."""
        storages = [source, out, *[np.empty(size, out.dtype) for size in self.partial_sizes]]
        for step in self.steps:
            step.run(storages)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of a reduction: its size, and its strides in source and output."""

    size: int
    source: int
    out: int = 0


@dataclass(frozen=True, slots=True)
class Fold:
    """A reduction as nested loops; kept and reduced dimensions from the outermost to the innermost.

    Attributes:
        operator: the operator to reduce with.
        dtype: the dtype of elements and results.
        source: the number of the storage that is read, and the position of the first element.
        out: the number of the storage that is written, and the position of the first result.
        kept: the dimensions of the outputs.
        folded: the reduced dimensions; at least one.
        across: whether the innermost loop is over contiguous outputs.
    """

    operator: Operator
    dtype: DType
    source: tuple[int, int]
    out: tuple[int, int]
    kept: tuple[Dimension, ...]
    folded: tuple[Dimension, ...]
    across: bool

    def outputs(self) -> int:
        """Return the number of outputs."""
        return size_of(d.size for d in self.kept)

    def elements(self) -> int:
        """Return the number of elements that are reduced."""
        return self.outputs() * size_of(d.size for d in self.folded)


def nested_step(
    kernel: Kernel, fold: Fold, parallel: bool, before: tuple[Any, ...], kept: tuple[Dimension, ...]
) -> Step:
    """Return a call for nested loops over `OUTER` kept dimensions and the reduced ones."""
    folded = padded(fold.folded, NESTED)
    (read, source_start), (written, out_start) = fold.source, fold.out
    sizes, counts = (tuple(d.size for d in group) for group in (kept, folded))
    strides = tuple(d.source for d in folded)
    source = (read, ((source_start, *(d.source for d in kept)), strides))
    out = (written, ((out_start, *(d.out for d in kept)),))
    return Step(kernel, size_of(sizes), parallel, (*before, sizes, counts), source, out)


def padded(dims: tuple[Dimension, ...], count: int) -> tuple[Dimension, ...]:
    """Return `count` dimensions, with leading dimensions of size 1."""
    return (*(Dimension(1, 0) for _ in range(count - len(dims))), *dims)
