"""Kernels as text.

A kernel is a Python function that does a *part* of the work. Work is counted in units, such as
elements or rows, and the part is the units from `lo` to `hi`. So the same code does all of it on
one thread, or a part of it on each of several. The text is plain Python, for people to read
(`mt_fast.source`) and for Numba to compile (`kernel.py`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 88
"""The longest line of a function's head."""


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel as text.

    Attributes:
        name: the name of its function.
        text: the definition of the function.
        arguments: the names of its parameters after `lo` and `hi`.
        fastmath: LLVM's fast-math flags; never those that exclude nan and infinity.
        is_memory_bound: whether an element takes so few instructions that the loop waits for
            memory.
    """

    name: str
    text: str
    arguments: tuple[str, ...]
    fastmath: frozenset[str] = frozenset()
    is_memory_bound: bool = False


def indented(lines: Sequence[str], levels: int = 1) -> list[str]:
    """Indent lines."""
    return ["    " * levels + line for line in lines]


def function(
    name: str, arguments: Sequence[str], body: Sequence[str], fastmath: frozenset[str] = frozenset()
) -> Source:
    """Return a function of `lo`, `hi` and more arguments as text."""
    parameters = ", ".join(("lo", "hi", *arguments))
    head = [f"def {name}({parameters}):"]
    if len(head[0]) > WIDTH:
        lines = textwrap.wrap(parameters, WIDTH - 4)
        head = [f"def {name}(", *indented(lines), "):"]
    return Source(name, "\n".join((*head, *indented(body))), tuple(arguments), fastmath)
