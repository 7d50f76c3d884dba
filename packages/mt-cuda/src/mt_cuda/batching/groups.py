"""Many tensors in one launch: what belongs to which block.

A group is what one call would work on: a tensor, or several of one size. A kernel takes `TENSORS`
groups, each with storages of the same names. Each group has blocks of its own, as many as its
elements need, and those of group k end before block `end{k}`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mt_cuda.core.kernel import Lines, Parameter, indented, numbers, operand
from mt_tensor import DType

TENSORS = 16
"""How many groups a launch takes at most: so many pointers are passed to a kernel."""

EACH = 8
"""Elements that a thread visits."""


def blocks_of(size: int, threads: int) -> int:
    """Return how many blocks of so many threads a group of so many elements has."""
    return -(-size // (threads * EACH))


def counts() -> list[Parameter]:
    """Return the parameters that say where the groups end, and how many elements they have."""
    return numbers(*(f"end{k}" for k in range(TENSORS)), *(f"size{k}" for k in range(TENSORS)))


def counts_of(sizes: Sequence[int], threads: int) -> tuple[tuple[int, ...], int]:
    """Return the numbers for `counts`, and how many blocks there are.

    Args:
        sizes: the elements of each group; at most `TENSORS`. No block works on those beyond.
        threads: threads of a block.
    """
    ends, end = [], 0
    for size in sizes:
        end += blocks_of(size, threads)
        ends.append(end)
    absent = TENSORS - len(sizes)
    return (*ends, *([end] * absent), *sizes, *([0] * absent)), end


def storages(named: Sequence[tuple[str, DType]]) -> list[Parameter]:
    """Return the parameters for the storages of each group, given their names and types."""
    return [
        parameter
        for k in range(TENSORS)
        for name, dtype in named
        for parameter in operand(f"{name}_{k}", dtype)
    ]


def find(names: Sequence[str]) -> Lines:
    """Return the lines that find a block's group: its storages, by these names.

    Afterwards `begin` is the group's first block, and `size` its elements.
    """
    lines = ["block = cuda.blockIdx.x", *_choose(TENSORS - 1, names)]
    for k in range(TENSORS - 2, -1, -1):
        lines += [f"if block < end{k}:", *indented(_choose(k, names))]
    return lines


def visit(threads: int, lines: Lines) -> Lines:
    """Return the loop in which a thread of a block visits its elements `i` of the group."""
    share = threads * EACH
    return [
        f"i = (block - begin) * {share} + cuda.threadIdx.x",
        f"stop = min(size, (block - begin + 1) * {share})",
        "while i < stop:",
        *indented(lines),
        f"    i += {threads}",
    ]


def _choose(k: int, names: Sequence[str]) -> Lines:
    return [
        f"begin = {f'end{k - 1}' if k else 0}",
        f"size = size{k}",
        *(f"{name} = {name}_{k}[{name}_{k}_at:]" for name in names),
    ]
