"""The public names of a package: those in its `__all__` and those of the packages within.

What the examples of its README and its guides import belongs to them, too: a name of a module that
has no `__all__`, as `mt_operators.datasets.xor`, or all that such a module defines, as
`mt_operators.operators`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from mt.source.modules import Definition, Imported, Module, Statement
from mt.source.parts import part_of
from mt.source.symbols import Symbol, Symbols, UnknownSymbolError

_PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def public_names(symbols: Symbols, package: str) -> dict[str, Symbol]:
    """Return what a package offers, by the name behind the package's own: `functional.relu`.

    Args:
        symbols: where it is looked up.
        package: what a program imports.

    Raises:
        UnknownSymbolError: `__all__`, or an example of the README, has a name that the source does
            not define.
    """
    found: dict[str, Symbol] = {}
    for source in symbols.library.modules(package):
        module = symbols.library.module(source.name) or source  # its stub, if it has one
        if part_of(module) != "conformance":
            for name in exported(module) or ():
                if not name.startswith("__"):
                    found |= _named(symbols, package, module, name)
    for module, name in _shown_to_readers(symbols, package):
        if exported(module) is None or _is_module(symbols, f"{module.name}.{name}"):
            found |= _named(symbols, package, module, name)
    return found


def _is_module(symbols: Symbols, name: str) -> bool:
    """Return whether a name is that of a module without `__all__`, which is not for tests."""
    module = symbols.library.module(name)
    return module is not None and exported(module) is None and part_of(module) != "conformance"


def _named(symbols: Symbols, package: str, module: Module, name: str) -> dict[str, Symbol]:
    """Return a name of a module, and if it is a module without `__all__`, what that defines."""
    symbol = symbols.member(symbols.of_module(module), name)
    if symbol is None:
        raise UnknownSymbolError(
            f"{module.name} ({module.file.name}) does not define {name!r}, which `__all__` or an "
            "example of the README names."
        )
    path = f"{module.name}.{name}".removeprefix(f"{package}.")
    found = {path: symbol}
    if symbol.kind == "module" and exported(symbol.module) is None:
        for inner in _defined_in(symbols, symbol.module):
            found[f"{path}.{inner.name.rpartition('.')[2]}"] = inner
    return found


def _shown_to_readers(symbols: Symbols, package: str) -> Iterator[tuple[Module, str]]:
    """Yield what the examples of a package's README and guides import from it.

    Each is a module, and a name there.
    """
    folder = symbols.library.folders[package].parents[1]
    for file in (*folder.glob("README.md"), *sorted(folder.glob("docs/*.md"))):
        for statement in _statements(file):
            if isinstance(statement, ast.ImportFrom):
                module = symbols.library.module(statement.module or "")
                if module is not None and module.name.partition(".")[0] == package:
                    for alias in statement.names:
                        yield module, alias.name


def _statements(file: Path) -> Iterator[ast.AST]:
    """Yield the statements of the examples of a document."""
    for example in _PYTHON.findall(file.read_text(encoding="utf-8")):
        yield from ast.walk(ast.parse(example, str(file)))


def exported(module: Module) -> list[str] | None:
    """Return the names in a module's `__all__`, or else what a stub or package exports, or None.

    Where `globals()["__all__"]` is computed, these are the names that the module binds.
    """
    statement = module.names.get("__all__")
    if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.List):
        return [str(name.value) for name in statement.value.elts if isinstance(name, ast.Constant)]
    if 'globals()["__all__"]' in module.text:
        return [
            name
            for name, origin in module.names.items()
            if not name.startswith("_") and getattr(origin, "name", name) is not None
        ]
    if module.file.suffix == ".pyi" or _only_exports(module):
        return [name for name, origin in module.names.items() if isinstance(origin, Imported)]
    return None


def _only_exports(module: Module) -> bool:
    """Return whether a package imports each name as itself, and so does nothing but export it."""
    imports = [s for s in module.tree.body if isinstance(s, ast.ImportFrom)]
    names = [alias for statement in imports for alias in statement.names]
    whole = module.is_package and len(imports) == len(module.tree.body) - 1  # but for the docstring
    return whole and all(alias.name == alias.asname for alias in names)


def _defined_in(symbols: Symbols, module: Module) -> Iterator[Symbol]:
    """Yield what a module without `__all__` defines for others: functions, classes and values."""
    for name, statement in module.names.items():
        if name.startswith("_") or isinstance(statement, Imported):
            continue
        if isinstance(statement, Definition) or not _is_type_variable(statement):
            yield Symbol(f"{module.name}.{name}", module, statement, symbols)


def _is_type_variable(statement: Statement) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Call) and ast.unparse(value.func) in ("TypeVar", "ParamSpec")
