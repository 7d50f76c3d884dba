"""Many tensors in one launch: the assignment of blocks to tensors.

A group is the operands of one call: a tensor, or several of one size. A kernel takes `TENSORS`
groups, each with storages of the same names. Each group has its own blocks, as many as its elements
need, and those of group k end before block `end{k}`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mt_cuda.core.elements import operand
from mt_cuda.core.kernel import Lines, Parameter, indented, numbers
from mt_tensor import DType

TENSORS = 16
"""The maximum number of groups per launch, which determines how many pointers a kernel takes."""

EACH = 8
"""The number of elements per thread."""


def blocks_of(size: int, threads: int) -> int:
    """Return the number of blocks of a group of `size` elements."""
    return -(-size // (threads * EACH))


def counts() -> list[Parameter]:
    """Return the parameters for the ends of the groups and their numbers of elements."""
    return numbers(*(f"end{k}" for k in range(TENSORS)), *(f"size{k}" for k in range(TENSORS)))


def counts_of(sizes: Sequence[int], threads: int) -> tuple[tuple[int, ...], int]:
    """Return the numbers for `counts`, and the number of blocks.

    Args:
        sizes: the number of elements of each of at most `TENSORS` groups. Missing groups have no
            blocks.
        threads: the number of threads per block.
    """
    ends, end = [], 0
    for size in sizes:
        end += blocks_of(size, threads)
        ends.append(end)
    absent = TENSORS - len(sizes)
    return (*ends, *([end] * absent), *sizes, *([0] * absent)), end


def storages(named: Sequence[tuple[str, DType]]) -> list[Parameter]:
    """Return the parameters for the storages of each group, given their names and dtypes."""
    return [
        parameter
        for k in range(TENSORS)
        for name, dtype in named
        for parameter in operand(f"{name}_{k}", dtype)
    ]


def find(names: Sequence[str]) -> Lines:
    """Return the lines that assign the storages of a block's group to variables of these names.

    Afterwards `begin` is the group's first block, and `size` its number of elements.
    """
    lines = ["block = cuda.blockIdx.x", *_choose(TENSORS - 1, names)]
    for k in range(TENSORS - 2, -1, -1):
        lines += [f"if block < end{k}:", *indented(_choose(k, names))]
    return lines


def visit(threads: int, lines: Lines) -> Lines:
    """Return the loop of a thread over its elements `i` of the group."""
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
