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

from griffe import Module, ModulesCollection, Object

from mt.source.parts import part_of
from mt.source.symbols import file_of, find, node_of

_PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
_TYPE_VARIABLE = re.compile(r"TypeVar\(|ParamSpec\(")


def public_names(modules: ModulesCollection, package: str) -> dict[str, Object]:
    """Return the public names of a package, without its own name: `functional.relu`.

    Args:
        modules: the packages.
        package: its import name.

    Raises:
        UnknownSymbolError: the source does not define a name of `__all__` or of an example.
    """
    root = modules[package]
    names = [
        f"{module.path}.{name}"
        for module in _modules(root)
        if part_of(module.path) != "conformance"
        for name in exported(module) or ()
        if not name.startswith("__")
    ]
    found = {}
    for name in [*names, *_shown_to_readers(modules, root)]:
        found[name] = symbol = find(modules, name)
        if isinstance(symbol, Module) and exported(symbol) is None:
            found |= {f"{name}.{inner}": symbol[inner] for inner in _defined_in(symbol)}
    return {name.removeprefix(f"{package}."): symbol for name, symbol in found.items()}


def _modules(module: Module) -> Iterator[Module]:
    """Yield a module and all modules below it, by name."""
    yield module
    for _, submodule in sorted(module.members.items()):
        if isinstance(submodule, Module):
            yield from _modules(submodule)


def exported(module: Module) -> list[str] | None:
    """Return the names in a module's `__all__`, or those that a package re-exports, or None.

    A package re-exports all names that it binds if each of its imports is `from x import y as y`.
    """
    if module.exports is not None:
        return [str(name) for name in module.exports]
    body = node_of(module).body if module.is_init_module else []
    imports = [name for each in body if isinstance(each, ast.ImportFrom) for name in each.names]
    if not imports or not all(name.asname for name in imports):
        return None
    return [
        name
        for name, member in module.members.items()
        if member.is_wildcard_exposed and module.imports.get(name) != name
    ]


def _shown_to_readers(modules: ModulesCollection, package: Module) -> Iterator[str]:
    """Yield the names that the README and the guides of a package import from it.

    These are modules without `__all__`, and names in such modules.
    """
    folder = file_of(package).parents[2]
    for file in (*folder.glob("README.md"), *sorted(folder.glob("docs/*.md"))):
        for node in _statements(file):
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == package.name:
                module = modules[str(node.module)]
                for alias in node.names:
                    name = f"{module.path}.{alias.name}"
                    if exported(module) is None or _is_open(find(modules, name)):
                        yield name


def _is_open(symbol: Object) -> bool:
    """Return whether a definition is a module without `__all__` that is not for tests."""
    is_open = isinstance(symbol, Module) and exported(symbol) is None
    return is_open and part_of(symbol.path) != "conformance"


def _statements(file: Path) -> Iterator[ast.AST]:
    """Yield the statements in the examples of a document."""
    for example in _PYTHON.findall(file.read_text(encoding="utf-8")):
        yield from ast.walk(ast.parse(example, str(file)))


def _defined_in(module: Module) -> Iterator[str]:
    """Yield the public functions, classes and values that a module without `__all__` defines."""
    for name, member in module.members.items():
        is_definition = not (member.is_alias or member.is_module or name.startswith("_"))
        if is_definition and not _TYPE_VARIABLE.match(str(getattr(member, "value", ""))):
            yield name
