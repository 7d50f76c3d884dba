"""Group the entries of pages: by module, by letter, by class."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from mt.diff.code import CodeChange, Fate
from mt.diff.functions import Function
from mt.source.modules import Definition, Module, lines_of
from mt.source.symbols import Symbol

# --- Names by letter ----------------------------------------------------------------------------


def by_letter(names: Mapping[str, Symbol]) -> dict[str, dict[str, Symbol]]:
    """Return public names grouped by the first letter after the last dot, sorted."""

    def key(name: str) -> tuple[str, str]:
        own = name.rpartition(".")[2]
        return own.lower(), name

    groups: dict[str, dict[str, Symbol]] = defaultdict(dict)
    for name in sorted(names, key=key):
        groups[key(name)[0][:1].upper()][name] = names[name]
    return dict(sorted(groups.items()))


# --- Functions by module ------------------------------------------------------------------------


@dataclass(frozen=True)
class ModuleChanges:
    """The functions of a module that no earlier stage has a version of.

    Attributes:
        module: the module.
        public: its public functions.
        private: its private functions: a part of their name begins with an underscore.
    """

    module: Module
    public: tuple[Function, ...]
    private: tuple[Function, ...]

    @property
    def lines(self) -> int:
        """The number of their lines."""
        return sum(map(length, (*self.public, *self.private)))


def new_ideas(changes: Iterable[CodeChange]) -> Iterator[ModuleChanges]:
    """Yield the new ideas among functions, module by module."""
    groups: dict[str, list[Function]] = defaultdict(list)
    for change in changes:
        if change.fate == "new idea":
            groups[change.after.module.name].append(change.after)
    for functions in groups.values():
        own = {function: within(function) for function in functions}
        yield ModuleChanges(
            functions[0].module,
            tuple(each for each in functions if not _is_private(own[each])),
            tuple(each for each in functions if _is_private(own[each])),
        )


def versions(changes: Iterable[CodeChange]) -> list[CodeChange]:
    """Return the functions that are versions of earlier ones, the closest first."""
    found = [change for change in changes if change.before is not None]
    return sorted(found, key=lambda change: get_args(Fate).index(change.fate))


def within(definition: Function | Symbol) -> str:
    """Return the name of a definition within its module."""
    return definition.name.removeprefix(definition.module.name).removeprefix(".")


def length(function: Function) -> int:
    """Return the number of lines of a function."""
    first, last = lines_of(function.node)
    return last - first + 1


def described(function: Function) -> str:
    """Return the first line of a function's docstring."""
    return (ast.get_docstring(function.node) or "").partition("\n")[0]


def _is_private(name: str) -> bool:
    """Return whether a name is private; `__add__` is not."""
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


# --- Definitions of a module --------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A definition in the outline of a module.

    Attributes:
        name: its name within the module.
        line: its first line.
        inner: the methods of a class.
    """

    name: str
    line: int
    inner: tuple[Entry, ...] = ()


def outline(module: Module) -> list[Entry]:
    """Return the functions and classes of a module, in source order."""
    return list(_entries(module.tree.body, ""))


def _entries(body: list[ast.stmt], prefix: str) -> Iterator[Entry]:
    for statement in body:
        if isinstance(statement, Definition):
            name = f"{prefix}{statement.name}"
            is_class = isinstance(statement, ast.ClassDef)
            inner = _entries(statement.body, f"{name}.") if is_class else ()
            yield Entry(name, lines_of(statement)[0], tuple(inner))
