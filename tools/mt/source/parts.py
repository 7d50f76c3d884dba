"""What a file of a stage is, by where it lies; and how much of it is code.

A stage is read in an evening: the folder `core/` of its package holds its idea. *Rest* is what
users expect beyond that, in folders by subject beside the core, with programs that can be run. Kits
and samples for tests are *conformance*.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Set
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from mt.source.modules import Module, documentation, lines_of

Part = Literal["core", "rest", "conformance"]
PARTS: tuple[Part, ...] = get_args(Part)
CORE: tuple[Part, ...] = ("core",)
FOR_USERS: tuple[Part, ...] = ("core", "rest")

_SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def part_of(module: Module) -> Part:
    """Return what a module is, by the folder of its package where it lies."""
    top = module.name.split(".")[1:2]
    if top in (["conformance"], ["testing"]):
        return "conformance"
    return "core" if top == ["core"] else "rest"


@lru_cache(maxsize=1000)
def has_core(package: Path) -> bool:
    """Return whether the folder of a package has its lesson in `core/`."""
    return (package / "core").is_dir()


def lines_on_page(module: Module) -> int:
    """Return how many lines a reader sees, with comments, docstrings and empty ones."""
    return len(module.text.splitlines())


def lines_of_code(module: Module) -> int:
    """Return how many lines compute something: no comments, docstrings or empty ones."""
    return len(_lines_with_tokens(module.text) - set(_documentation(module.tree)))


@lru_cache(maxsize=2000)
def _lines_with_tokens(text: str) -> Set[int]:
    """Return which lines of a text hold more than comments; copies of a package share them."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def _documentation(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of strings that stand alone."""
    for node in ast.walk(tree):
        if documentation(node):
            first, last = lines_of(node)
            yield from range(first, last + 1)
