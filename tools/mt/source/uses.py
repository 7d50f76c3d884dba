"""Find uses of names that the workspace defines, to link each name to its definition.

A name is linked only if its meaning is certain: any name that a function binds, as a parameter, a
variable or an import, hides the name of its module in the whole function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mt.source.modules import Definition, Module
from mt.source.symbols import Symbol, Symbols, UnknownSymbolError


@dataclass(frozen=True)
class Use:
    """A piece of a line that refers to a symbol.

    Attributes:
        line: the line number, from 1.
        start: the column of its first character, from 0.
        end: the column after its last character.
        symbol: the symbol it refers to.
    """

    line: int
    start: int
    end: int
    symbol: Symbol


def uses(module: Module, symbols: Symbols) -> Iterator[Use]:
    """Yield the uses of names that the library defines, including those in imports."""
    lines = module.text.splitlines()
    for statement, hidden in _parts(module.tree.body):
        for node in ast.walk(statement):
            for name, line, offset, symbol in _named(node, hidden, module, symbols):
                # A syntax tree counts columns in bytes.
                start = len(lines[line - 1].encode()[:offset].decode())
                yield Use(line, start, start + len(name), symbol)


def _parts(
    body: Iterable[ast.stmt], hidden: frozenset[str] = frozenset()
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Yield the parts of a module, each with the names that are rebound there."""
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            for outside in (*statement.decorator_list, *statement.bases, *statement.keywords):
                yield outside, hidden
            own = frozenset(name for inner in statement.body for name in _bound(inner))
            for inner in statement.body:
                # Methods do not see the names of their class.
                yield from _parts([inner], frozenset() if isinstance(inner, Definition) else own)
        elif isinstance(statement, Definition):
            yield statement, frozenset(_bound_within(statement))
        else:
            yield statement, hidden | frozenset(_bound(statement))


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds in its own scope."""
    if isinstance(statement, Definition):
        yield statement.name
    else:
        yield from _bound_within(statement)


def _bound_within(tree: ast.AST) -> Iterator[str]:
    """Yield all names that are bound anywhere inside a node."""
    for node in ast.walk(tree):
        if node is tree:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, Definition):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _named(
    node: ast.AST, hidden: frozenset[str], module: Module, symbols: Symbols
) -> Iterator[tuple[str, int, int, Symbol]]:
    """Yield the names in a node, each with its line, first byte and symbol."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            symbol = _found(alias.name, symbols)
            if symbol is not None:
                yield alias.name, alias.lineno, alias.col_offset, symbol
    elif isinstance(node, ast.ImportFrom):
        source = module.absolute(node)
        for alias in node.names:
            symbol = _found(f"{source}.{alias.name}", symbols)
            if symbol is not None:
                yield alias.name, alias.lineno, alias.col_offset, symbol
    elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        name = node.id if isinstance(node, ast.Name) else node.attr
        symbol = None if _root(node) in hidden else symbols.resolved(module, node)
        if symbol is not None:
            line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
            yield name, line, end - len(name.encode()), symbol


def _found(name: str, symbols: Symbols) -> Symbol | None:
    """Return the symbol of an imported name; None if the library does not define it."""
    if name.partition(".")[0] not in symbols.library.folders:
        return None
    try:
        return symbols.find(name)
    except UnknownSymbolError:
        return None


def _root(expression: ast.expr) -> str:
    """Return the first name of a dotted expression; empty if it does not start with a name."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else ""
