"""Find imports between modules: at the top, inside functions, and for type checking."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mt.source.modules import Imported, Library, Module

UNCOUNTED = {"Methods", "StorageMethods", "__version__"}
"""Names whose imports are ignored.

To type checkers, such a table of methods is a base of the class that it is registered with, so that
both modules import each other. The version of a package is not code.
"""


def imports(library: Library, module: Module) -> Iterator[tuple[Module, int]]:
    """Yield the modules of its own package that a module imports, each with its line number."""
    package = module.name.partition(".")[0]
    for other, line in imported(library, module):
        if other.name.partition(".")[0] == package:
            yield other, line


def imported(library: Library, module: Module) -> Iterator[tuple[Module, int]]:
    """Yield all modules of a library that a module imports, each with its line number.

    The module is the one in the import statement, or the one that binds the imported name. Imports
    of the names in `UNCOUNTED` are ignored.
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
    """Return the module that binds a name of `source`, or the submodule of this name."""
    module = library.module(source)
    bound = {} if module is None else module.names
    if bound.get(name, Imported(source, name)) != Imported(source, name):
        return module
    return library.module(f"{source}.{name}") or module


def import_graph(library: Library, package: str) -> dict[str, set[str]]:
    """Return, for each module of a package, the modules that it imports from it, all by name."""
    return {
        module.name: {other.name for other, _ in imports(library, module)}
        for module in library.modules(package)
    }
