"""Layouts: how the elements that one kernel visits lie in memory.

A kernel is text with numbers for parameters; this file says what these numbers mean.

A kernel for any number of dimensions would have to read shapes and strides from memory. Instead,
dimensions that lie evenly spaced in every operand are merged first, and a kernel is generated for
the number that remains: most often one, where no index needs to be taken apart. Shapes and
strides are then plain numbers among the kernel's parameters; nothing is copied to the GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt_tensor.core.strides import size_of

Strides = tuple[int, ...]

NARROW_LIMIT = 2**31
"""Below this many elements indices are taken apart in 32 bits: a GPU divides those much faster."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The dimensions that several operands have in common, merged as far as possible.

    Attributes:
        shape: the sizes, none of them 1.
        strides: for each operand, its strides in these dimensions.
    """

    shape: tuple[int, ...]
    strides: tuple[Strides, ...]

    @property
    def rank(self) -> int:
        """The number of dimensions that are left."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return size_of(self.shape)

    def unit(self) -> tuple[bool, ...] | None:
        """Return for each operand whether its elements follow each other, or else are all one.

        None if some operand is neither, so that positions must be worked out from strides.
        """
        if self.rank > 1:
            return None
        if self.rank == 0:
            return (True,) * len(self.strides)
        steps = [stride for (stride,) in self.strides]
        return tuple(step == 1 for step in steps) if set(steps) <= {0, 1} else None


def merge(shape: Sequence[int], strides: Sequence[Strides]) -> Layout:
    """Merge neighbouring dimensions wherever all operands step evenly across both.

    >>> merge((2, 3, 4), [(12, 4, 1), (3, 1, 0)])
    Layout(shape=(6, 4), strides=((4, 1), (1, 0)))
    """
    sizes: list[int] = []
    steps: list[tuple[int, ...]] = []  # for each merged dimension, the step of each operand
    for d, size in enumerate(shape):
        if size == 1:
            continue
        here = tuple(each[d] for each in strides)
        if steps and all(
            outer == inner * size for outer, inner in zip(steps[-1], here, strict=True)
        ):
            sizes[-1] *= size
            steps[-1] = here
        else:
            sizes.append(size)
            steps.append(here)
    columns = tuple(tuple(step[i] for step in steps) for i in range(len(strides)))
    return Layout(tuple(sizes), columns)


def lies_along(kept: Layout, folded: Layout) -> bool:
    """Whether what is folded lies closer together in memory than what belongs to other results."""
    nearest = min((abs(stride) for stride in kept.strides[0]), default=0)
    along = min((abs(stride) for stride in folded.strides[0]), default=0)
    return kept.size == 1 or along <= nearest


# --- The same, as lines of a kernel -------------------------------------------------------------


def size_names(rank: int, prefix: str = "size") -> list[str]:
    """Return the names of the sizes that a kernel needs: of all dimensions but the first."""
    return [f"{prefix}{d}" for d in range(1, rank)]


def stride_names(operand: str, rank: int) -> list[str]:
    """Return the names of an operand's strides."""
    return [f"{operand}_stride{d}" for d in range(rank)]


def index_type(size: int) -> str:
    """Return the dtype in which indices into `size` elements are taken apart; see `kernel.py`."""
    return "index32" if size < NARROW_LIMIT else "int64"


def wide_suffix(index: str) -> str:
    """Return what ends the name of a kernel whose indices are taken apart in this type."""
    return "" if index == "index32" else "_wide"


def take_apart(ordinal: str, sizes: Sequence[str], index: str, coordinate: str = "c") -> list[str]:
    """Return the lines that turn a row-major ordinal into coordinates `c0`, `c1`, ...

    Args:
        ordinal: an expression.
        sizes: the names from `size_names`; one coordinate more than names is assigned.
        index: the type from `index_type`.
        coordinate: how the names of the coordinates begin.
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
    """Return the expression of a position: the start and a step for each coordinate."""
    return " + ".join([start, *(f"{coordinate}{d} * {s}" for d, s in enumerate(strides))])
