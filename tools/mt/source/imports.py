"""Which modules import which: at their top, inside functions, and for types only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mt.source.modules import Imported, Library, Module

UNCOUNTED = {"Methods", "StorageMethods", "__version__"}
"""Names whose imports do not count.

Type checkers take such a table of methods for a base of the class that it is registered with, so
that both modules name each other. The version of a package is no code.
"""


def imports(library: Library, module: Module) -> Iterator[tuple[Module, int]]:
    """Yield the modules of its own package that a module imports, each with the line."""
    package = module.name.partition(".")[0]
    for other, line in imported(library, module):
        if other.name.partition(".")[0] == package:
            yield other, line


def imported(library: Library, module: Module) -> Iterator[tuple[Module, int]]:
    """Yield all modules of a library that a module imports, each with the line.

    That is the module which the statement names, or the one in which the imported name is bound.
    Imports of the names in `UNCOUNTED` do not count.
    """
    for node in ast.walk(module.tree):
        match node:
            case ast.ImportFrom(names=[ast.alias(name=name)]) if name in UNCOUNTED:
                continue
            case ast.Import(names=names):
                others = [library.module(alias.name) for alias in names]
            case ast.ImportFrom(names=names):
                source = module.absolute(node)
                others = [_owner(library, source, alias.name) for alias in names]
            case _:
                continue
        for other in dict.fromkeys(others):
            if other is not None:
                yield other, node.lineno


def _owner(library: Library, source: str, name: str) -> Module | None:
    """Return the module that binds a name of `source`, or that is the one so called below it."""
    module = library.module(source)
    bound = {} if module is None else module.names
    if bound.get(name, Imported(source, name)) != Imported(source, name):
        return module
    return library.module(f"{source}.{name}") or module


def import_graph(library: Library, package: str) -> dict[str, set[str]]:
    """Return the modules that each module of a package imports from it, all by their names."""
    return {
        module.name: {other.name for other, _ in imports(library, module)}
        for module in library.modules(package)
    }
