"""Layouts: the shapes and strides of the operands of a kernel.

A kernel for any number of dimensions would have to read shapes and strides from memory. Instead,
dimensions that are evenly spaced in every operand are merged first, and a kernel is generated for
the remaining number of dimensions: most often one, which needs no index arithmetic. Shapes and
strides are then integer parameters of the kernel, and need not be copied to the GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt_tensor.core.strides import size_of

Strides = tuple[int, ...]

NARROW_LIMIT = 2**31
"""With fewer elements, index arithmetic uses 32 bits, in which GPUs divide faster."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The common dimensions of several operands, merged as far as possible.

    Attributes:
        shape: the sizes, none of them 1.
        strides: the strides of each operand.
    """

    shape: tuple[int, ...]
    strides: tuple[Strides, ...]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return size_of(self.shape)

    def unit(self) -> tuple[bool, ...] | None:
        """Return for each operand whether it is contiguous, and not a single repeated element.

        Return None if some operand is neither.
        """
        if self.rank > 1:
            return None
        if self.rank == 0:
            return (True,) * len(self.strides)
        steps = [stride for (stride,) in self.strides]
        return tuple(step == 1 for step in steps) if set(steps) <= {0, 1} else None


def merge(shape: Sequence[int], strides: Sequence[Strides]) -> Layout:
    """Merge neighboring dimensions that are evenly spaced in all operands.

    >>> merge((2, 3, 4), [(12, 4, 1), (3, 1, 0)])
    Layout(shape=(6, 4), strides=((4, 1), (1, 0)))
    """
    sizes: list[int] = []
    steps: list[tuple[int, ...]] = []  # for each merged dimension, the step of each operand
    for d, size in enumerate(shape):
        if size == 1:
            continue
        current = tuple(each[d] for each in strides)
        if steps and all(
            outer == inner * size for outer, inner in zip(steps[-1], current, strict=True)
        ):
            sizes[-1] *= size
            steps[-1] = current
        else:
            sizes.append(size)
            steps.append(current)
    columns = tuple(tuple(step[i] for step in steps) for i in range(len(strides)))
    return Layout(tuple(sizes), columns)


def lies_along(kept: Layout, folded: Layout) -> bool:
    """Return whether the folded dimensions have smaller strides than the kept ones."""
    nearest = min((abs(stride) for stride in kept.strides[0]), default=0)
    along = min((abs(stride) for stride in folded.strides[0]), default=0)
    return kept.size == 1 or along <= nearest


# --- Kernel source ------------------------------------------------------------------------------


def size_names(rank: int, prefix: str = "size") -> list[str]:
    """Return the names of the sizes that a kernel needs: all but the first."""
    return [f"{prefix}{d}" for d in range(1, rank)]


def stride_names(operand: str, rank: int) -> list[str]:
    """Return the names of an operand's strides."""
    return [f"{operand}_stride{d}" for d in range(rank)]


def index_type(size: int) -> str:
    """Return the type of index arithmetic for `size` elements: `index32` or `int64`."""
    return "index32" if size < NARROW_LIMIT else "int64"


def wide_suffix(index: str) -> str:
    """Return the suffix of a kernel's name for a type of index arithmetic."""
    return "" if index == "index32" else "_wide"


def take_apart(ordinal: str, sizes: Sequence[str], index: str, coordinate: str = "c") -> list[str]:
    """Return the lines that convert a linear index to coordinates `c0`, `c1`, ...

    Args:
        ordinal: the expression of the linear, row-major index.
        sizes: the names from `size_names`; there is one coordinate more than names.
        index: the type from `index_type`.
        coordinate: the prefix of the coordinates.
    """
    lines = []
    rest = f"{index}({ordinal})"
    for d in range(len(sizes), 0, -1):
        size = f"{index}({sizes[d - 1]})"
        lines += [
            f"{coordinate}_rest{d} = {rest}",
            f"{coordinate}{d} = {index}({coordinate}_rest{d} % {size})",
        ]
        rest = f"{index}({coordinate}_rest{d} // {size})"
    return [*lines, f"{coordinate}0 = {rest}"]


def position(start: str, strides: Sequence[str], coordinate: str = "c") -> str:
    """Return the expression of a position: `start` plus coordinates times strides."""
    return " + ".join([start, *(f"{coordinate}{d} * {s}" for d, s in enumerate(strides))])
