"""Check imports between packages: only of a package itself and of its public modules.

A package lists the modules that others may import in its `pyproject.toml`, as in
`public = ["errors", "testing.*"]` below `[tool.mt]`, where `testing.*` includes everything in the
folder.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from mt.source.imports import imported
from mt.source.modules import Imported, Library, Module

Public = Mapping[str, Sequence[str]]
"""The public modules of each package, by its import name."""


def trespasses(library: Library, module: Module, public: Public) -> Iterator[str]:
    """Yield a message for each use of a private module of another package.

    Args:
        library: all packages.
        module: the module to check, of one of these packages or of none.
        public: the public modules of each package that has private ones.
    """
    own = module.name.partition(".")[0]
    for other, line in (*imported(library, module), *_reached(library, module)):
        package = other.name.partition(".")[0]
        if package != own and package in public and not _is_public(other.name, public[package]):
            yield f"line {line} uses {other.name}, which is private to {package}"


def _is_public(module: str, places: Sequence[str]) -> bool:
    _, _, path = module.partition(".")
    return not path or any(
        path == place.removesuffix(".*")
        or (place.endswith(".*") and path.startswith(place.removesuffix("*")))
        for place in places
    )


def _reached(library: Library, module: Module) -> Iterator[tuple[Module, int]]:
    """Yield modules that are used as attributes of a package, as in `mt.strides`."""
    packages = {
        name: library.module(statement.module)
        for name, statement in module.names.items()
        if isinstance(statement, Imported) and statement.name is None
    }
    for node in ast.walk(module.tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in packages:
                package = packages[name]
                below = package and library.module(f"{package.name}.{attribute}")
                if package and below and attribute not in package.names:
                    yield below, node.lineno
