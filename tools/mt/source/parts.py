"""What a file of a stage is, by where it lies; and how much of it is code.

A stage is read in an evening: the folder `core/` of its package holds its idea. *Rest* is what
users expect beyond that, in folders by subject beside the core, with programs that can be run. Kits
and samples for tests are *conformance*.

A package without `core/` counts as core whatever lies outside of `library/` and the like.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Set
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from mt.source.modules import Module, defined, documentation, lines_of

Part = Literal["core", "rest", "conformance"]
PARTS: tuple[Part, ...] = get_args(Part)
CORE: tuple[Part, ...] = ("core",)
FOR_USERS: tuple[Part, ...] = ("core", "rest")

_FOR_TESTS = {"conformance", "testing"}
_BESIDE_THE_CORE = {
    *("library", "extending", "examples", "bench", "course", "methods", "torch_names", "__main__"),
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
    if has_core(_package_folder(module)):
        return "core" if top == "core" else "rest"
    beside = {top, last} & _BESIDE_THE_CORE or (path and _passes_on_the_library(module))
    return "rest" if beside else "core"


def _package_folder(module: Module) -> Path:
    """Return the folder of the package that a module belongs to."""
    return module.file.parents[module.name.count(".") - (module.file.stem != "__init__")]


@lru_cache(maxsize=1000)
def has_core(package: Path) -> bool:
    """Return whether the folder of a package has its lesson in `core/`."""
    return (package / "core").is_dir()


def _passes_on_the_library(module: Module) -> bool:
    """Return whether a module only re-exports names, among them some of the package's `library`.

    Or it is a folder's `__init__` whose imports are in a stub and run when a name is first used.
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
