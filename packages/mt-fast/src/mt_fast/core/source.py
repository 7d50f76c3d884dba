"""Kernels as text.

Here the lesson begins, with what all of it is about. Every kernel is a Python function that does a
*part* of the work. The work is counted in units, such as elements, rows or tiles, and the part is
those from `lo` to `hi`: so the same code runs as a whole on one thread or in parts on several. The
text is plain Python to be read (`mt_fast.source`) and compiled (`core/kernel.py`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 88
"""How long the lines of a function's head may be."""


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel as text.

    Attributes:
        name: the name of its function.
        text: the definition of the function.
        arguments: the names of its parameters after `lo` and `hi`.
        fastmath: what LLVM may assume; never that there is no nan or infinity.
        light: whether there is so little to do for an element that the loop waits for memory.
    """

    name: str
    text: str
    arguments: tuple[str, ...]
    fastmath: frozenset[str] = frozenset()
    light: bool = False


def indented(lines: Sequence[str], levels: int = 1) -> list[str]:
    """Return lines moved to the right."""
    return ["    " * levels + line for line in lines]


def function(
    name: str, arguments: Sequence[str], body: Sequence[str], fastmath: frozenset[str] = frozenset()
) -> Source:
    """Return a function of the units from `lo` to `hi`, and of more arguments."""
    parameters = ", ".join(("lo", "hi", *arguments))
    head = [f"def {name}({parameters}):"]
    if len(head[0]) > WIDTH:
        lines = textwrap.wrap(parameters, WIDTH - 4)
        head = [f"def {name}(", *indented(lines), "):"]
    return Source(name, "\n".join((*head, *indented(body))), tuple(arguments), fastmath)
