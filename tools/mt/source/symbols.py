"""Look up qualified names in the source, which griffe reads without importing it.

A qualified name is a module and a name in it, `mt_autodiff.core.scalar.Scalar.backward`. Imported
names are followed to their definition, and methods to the class that defines them. A row of the
operator table is `mt_operators.core.table[tanh]`, the statement of that module whose call has this
first argument. Names that are added at run time, such as the methods that such rows add to tensors,
are not visible.
"""

from __future__ import annotations

import ast
import difflib
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from griffe import (
    Alias,
    AliasResolutionError,
    Attribute,
    CyclicAliasError,
    Extension,
    Extensions,
    GriffeLoader,
    LinesCollection,
    Module,
    ModulesCollection,
    Object,
    visit,
)

from mt.errors import ToolError
from mt.source.statements import lines_of


class UnknownSymbolError(ToolError):
    """A qualified name that the source does not define; the message says which part is missing."""


class _Omissions(Extension):
    """Add definitions that griffe leaves out."""

    def on_attribute_instance(self, *, node: Any, attr: Attribute, **_: Any) -> None:
        """Include the decorators of a property in its lines."""
        if isinstance(node, ast.FunctionDef):
            attr.lineno, _end = lines_of(node)

    def on_attribute_node(self, *, node: Any, agent: Any, **_: Any) -> None:
        """Add the names that are assigned together, `int8, int16 = ...`."""
        for target in getattr(node, "targets", []):
            for name in target.elts if isinstance(target, ast.Tuple) else ():
                alone = ast.copy_location(ast.Assign([name], node.value), node)
                alone.parent = node.parent  # type: ignore[attr-defined]
                agent.handle_attribute(alone)


_EXTENSIONS = Extensions(_Omissions())


@cache
def load(*folders: Path) -> ModulesCollection:
    """Read packages, given the folders with their `__init__.py`; this is done once.

    Raises:
        LoadingError: an `__init__.py` is not valid Python. Other invalid modules are skipped.
    """
    loader = GriffeLoader(
        extensions=_EXTENSIONS,
        search_paths=[folder.parent for folder in folders],
        allow_inspection=False,
    )
    for folder in folders:
        loader.load(folder.name, try_relative_path=False)
    return loader.modules_collection


def parse(name: str, file: Path, text: str) -> Module:
    """Return a single module from its text.

    Raises:
        SyntaxError: it is not valid Python.
    """
    lines = LinesCollection()
    lines[file] = text.splitlines()
    return visit(name, file, text, extensions=_EXTENSIONS, lines_collection=lines)


def find(owner: ModulesCollection | Object, name: str) -> Object:
    """Return the definition of a name below packages or a module, as after an import.

    Raises:
        UnknownSymbolError: the module does not exist, or does not define the name.
    """
    found: Any = owner
    for part in re.findall(r"\[.+\]|[^.[]+", name):
        found = _row(found, part) if part.startswith("[") else _member(found, part)
    # A function can hide the module that it comes from, as `mt_tensor.backends` does.
    imported = found.parent.imports.get(found.name) if found.is_module and found.parent else None
    return find(owner, imported) if imported and imported != found.path else found


def _member(owner: Any, name: str) -> Object:
    if name not in owner.all_members:
        near = difflib.get_close_matches(name, owner.all_members, 3, 0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        location = "the workspace" if owner.is_collection else _location(owner)
        raise UnknownSymbolError(f"{location} has no {name!r}.{hint}")
    found = owner.all_members[name]
    try:
        return found.final_target if isinstance(found, Alias) else found
    except (AliasResolutionError, CyclicAliasError) as error:
        raise UnknownSymbolError(
            f"{name!r} is not defined in {_location(owner)}, but imported: {found.target_path}."
        ) from error


def _row(table: Object, row: str) -> Object:
    """Return the statement of a module that calls a function with this string first."""
    for node in node_of(table).body:
        match node:
            case ast.Expr(ast.Call(args=[ast.Constant(str(first)), *_])) if f"[{first}]" == row:
                return Attribute(
                    row, lineno=node.lineno, endlineno=node.end_lineno, parent=table.module
                )
    raise UnknownSymbolError(f"no statement of {_location(table)} defines {row}.")


def _location(symbol: Object) -> str:
    return f"{symbol.path} ({file_of(symbol)}, line {symbol.lineno or 1})"


def name_of(symbol: Object) -> str:
    """Return the qualified name of a definition."""
    return symbol.path.replace(".[", "[")


def file_of(symbol: Object) -> Path:
    """Return the file of a definition."""
    return Path(str(symbol.filepath))


def docstring_of(symbol: Object) -> str:
    """Return the docstring of a definition; for a value, the string after it."""
    return symbol.docstring.value if symbol.docstring else ""


def node_of(symbol: Object) -> Any:
    """Return the statement that defines a symbol; of a module, the whole tree."""
    return _nodes("\n".join(symbol.module.lines))[symbol.lineno, symbol.endlineno]


@lru_cache(maxsize=100)
def _nodes(text: str) -> dict[tuple[int | None, int | None], ast.AST]:
    """Return the outermost statement on each range of lines, and the whole tree without lines."""
    tree = ast.parse(text)
    nodes: dict[tuple[int | None, int | None], ast.AST] = {(None, None): tree}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            nodes.setdefault(lines_of(node), node)
    return nodes
