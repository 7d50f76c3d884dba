"""Classify the files of a stage by folder, and count their lines of code.

The folder `core/` of a package is the lesson. *Rest* is everything else for users, in folders named
by subject outside of the core, and programs. Conformance kits and test samples are *conformance*.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Set
from functools import lru_cache
from typing import Literal, get_args

from mt.source.statements import is_docstring, lines_of

Part = Literal["core", "rest", "conformance"]
PARTS: tuple[Part, ...] = get_args(Part)

_SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def part_of(module: str) -> Part:
    """Return the part of a package that a module such as `mt_tensor.core.sums` belongs to."""
    top = module.split(".")[1:2]
    if top in (["conformance"], ["testing"]):
        return "conformance"
    return "core" if top == ["core"] else "rest"


def lines_of_code(text: str) -> int:
    """Return the number of lines of code, without comments, docstrings and blank lines."""
    return len(_lines_with_tokens(text) - set(_documentation(ast.parse(text))))


@lru_cache(maxsize=2000)
def _lines_with_tokens(text: str) -> Set[int]:
    """Return the lines that contain code or docstrings; copies of a package share the result."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def _documentation(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of docstrings and other string statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and is_docstring(node):
            first, last = lines_of(node)
            yield from range(first, last + 1)
