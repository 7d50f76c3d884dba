"""The public names of a package: what its `__all__` holds, and those of the packages within."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mt.source.modules import Definition, Module
from mt.source.symbols import Symbol, Symbols, UnknownSymbolError

FOR_TESTS = ("conformance", "testing")
"""Parts of packages that are public, but only of use in tests."""


def public_names(symbols: Symbols, package: str) -> dict[str, Symbol]:
    """Return what a package offers, by the name behind the package's own: `functional.relu`.

    Args:
        symbols: where it is looked up.
        package: what a program imports.

    Raises:
        UnknownSymbolError: `__all__` holds a name that the source does not define.
    """
    found: dict[str, Symbol] = {}
    for module in symbols.library.modules(package):
        prefix = module.name[len(package) :].removeprefix(".")
        listed = exported(module)
        if listed is None or set(prefix.split(".")) & set(FOR_TESTS):
            continue
        for name in listed:
            if name.startswith("__"):
                continue
            symbol = symbols.member(Symbol(module.name, module, module.tree), name)
            if symbol is None:
                raise UnknownSymbolError(
                    f"{module.name}.__all__ ({module.file.name}) holds {name!r}, which the source "
                    "does not define."
                )
            path = f"{prefix}.{name}" if prefix else name
            found[path] = symbol
            if symbol.kind == "module" and exported(symbol.module) is None:
                for inner in _defined_in(symbol.module):
                    found[f"{path}.{inner.name.rpartition('.')[2]}"] = inner
    return found


def exported(module: Module) -> list[str] | None:
    """Return the names in a module's `__all__`; None if it has none."""
    statement = module.names.get("__all__")
    if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.List):
        return [str(name.value) for name in statement.value.elts if isinstance(name, ast.Constant)]
    return None


def _defined_in(module: Module) -> Iterator[Symbol]:
    """Yield the functions and classes that a module without `__all__` defines for others."""
    for name, statement in module.names.items():
        if isinstance(statement, Definition) and not name.startswith("_"):
            yield Symbol(f"{module.name}.{name}", module, statement)
