"""What a file of a stage is, seen from where it lies; and how much of it is code.

A stage is read in an evening: its *lesson* holds its idea. What users expect beyond that is its
*library*, below the folder of this name. A file outside that only passes on what lies there, under
a name that users know, counts as such, too, and so do programs that can be run and the names that
later stages build with. Kits and samples for tests are the third part, *conformance*.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Set
from functools import lru_cache
from typing import Literal, get_args

from mt.source.modules import Module, defined, documentation, lines_of

Part = Literal["lesson", "library", "conformance"]
PARTS: tuple[Part, ...] = get_args(Part)
LESSON: tuple[Part, ...] = ("lesson",)
FOR_USERS: tuple[Part, ...] = ("lesson", "library")

_FOR_TESTS = {"conformance", "testing"}
_BEYOND_THE_LESSON = {
    *("library", "extending", "examples", "bench", "course", "torch_names", "__main__"),
}

_SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def part_of(module: Module) -> Part:
    """Return what a module is, by the place below its package where it lies."""
    _, _, path = module.name.partition(".")
    top, last = path.partition(".")[0], path.rpartition(".")[2]
    if top in _FOR_TESTS:
        return "conformance"
    package = module.name.partition(".")[0]
    root = next((each for each in module.file.parents if each.name == package), None)
    if root and (root / "core").is_dir():
        return "lesson" if top == "core" else "library"
    beyond = {top, last} & _BEYOND_THE_LESSON or (path and _passes_on_the_library(module))
    return "library" if beyond else "lesson"


def _passes_on_the_library(module: Module) -> bool:
    """Return whether a module does nothing but import, and from the library of its package, too.

    Or it is a folder's `__init__`, and its imports stand in a stub, which is read when they are
    asked for.
    """
    if module.file.with_suffix(".pyi").is_file():
        return True
    library = f"{module.name.partition('.')[0]}.library."
    sources = [
        f"{module.absolute(statement)}."
        for statement in module.tree.body
        if isinstance(statement, ast.ImportFrom) and statement.module != "__future__"
    ]
    silent = all(
        isinstance(statement, ast.ImportFrom)
        or documentation(statement)
        or defined(statement) == ["__all__"]
        for statement in module.tree.body
    )
    return silent and any(source.startswith(library) for source in sources)


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
