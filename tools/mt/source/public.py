"""The public names of a package: those in the `__all__` of its modules.

Names that its README and its guides import are public, too: a name of a module without `__all__`,
such as `mt_operators.datasets.xor`, or everything that such a module defines, such as
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
    """Return the public names of a package, without its own name: `functional.relu`.

    Args:
        symbols: the lookup of names.
        package: its import name.

    Raises:
        UnknownSymbolError: the source does not define a name of `__all__` or of an example.
    """
    found: dict[str, Symbol] = {}
    for module in symbols.library.modules(package):
        if part_of(module) != "conformance":
            for name in exported(module) or ():
                if not name.startswith("__"):
                    found |= _named(symbols, package, module, name)
    for module, name in _shown_to_readers(symbols, package):
        if exported(module) is None or _is_module(symbols, f"{module.name}.{name}"):
            found |= _named(symbols, package, module, name)
    return found


def _is_module(symbols: Symbols, name: str) -> bool:
    """Return whether a name is a module without `__all__` that is not for tests."""
    module = symbols.library.module(name)
    return module is not None and exported(module) is None and part_of(module) != "conformance"


def _named(symbols: Symbols, package: str, module: Module, name: str) -> dict[str, Symbol]:
    """Return a name of a module, and the definitions in it if it is a module without `__all__`."""
    symbol = symbols.member(symbols.of_module(module), name)
    if symbol is None:
        raise UnknownSymbolError(
            f"{module.name} ({module.file.name}) does not define {name!r}, which is in its "
            "`__all__` or in an example of the README."
        )
    path = f"{module.name}.{name}".removeprefix(f"{package}.")
    found = {path: symbol}
    if symbol.kind == "module" and exported(symbol.module) is None:
        for inner in _defined_in(symbols, symbol.module):
            found[f"{path}.{inner.name.rpartition('.')[2]}"] = inner
    return found


def _shown_to_readers(symbols: Symbols, package: str) -> Iterator[tuple[Module, str]]:
    """Yield the modules and names that the README and the guides of a package import from it."""
    folder = symbols.library.folders[package].parents[1]
    for file in (*folder.glob("README.md"), *sorted(folder.glob("docs/*.md"))):
        for statement in _statements(file):
            if isinstance(statement, ast.ImportFrom):
                module = symbols.library.module(statement.module or "")
                if module is not None and module.name.partition(".")[0] == package:
                    for alias in statement.names:
                        yield module, alias.name


def _statements(file: Path) -> Iterator[ast.AST]:
    """Yield the statements in the examples of a document."""
    for example in _PYTHON.findall(file.read_text(encoding="utf-8")):
        yield from ast.walk(ast.parse(example, str(file)))


def exported(module: Module) -> list[str] | None:
    """Return the names in a module's `__all__`, or those that a package re-exports, or None.

    If `globals()["__all__"]` is computed, these are the names that the module binds.
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
    if _only_exports(module):
        return [name for name, origin in module.names.items() if isinstance(origin, Imported)]
    return None


def _only_exports(module: Module) -> bool:
    """Return whether a package only re-exports names, as in `from x import name as name`."""
    imports = [s for s in module.tree.body if isinstance(s, ast.ImportFrom)]
    names = [alias for statement in imports for alias in statement.names]
    whole = module.is_package and len(imports) == len(module.tree.body) - 1  # but for the docstring
    return whole and all(alias.name == alias.asname for alias in names)


def _defined_in(symbols: Symbols, module: Module) -> Iterator[Symbol]:
    """Yield the public functions, classes and values that a module without `__all__` defines."""
    for name, statement in module.names.items():
        if name.startswith("_") or isinstance(statement, Imported):
            continue
        if isinstance(statement, Definition) or not _is_type_variable(statement):
            yield Symbol(f"{module.name}.{name}", module, statement, symbols)


def _is_type_variable(statement: Statement) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Call) and ast.unparse(value.func) in ("TypeVar", "ParamSpec")
