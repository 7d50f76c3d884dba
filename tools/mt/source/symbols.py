"""Symbols: what a qualified name stands for, and what its source says of it.

A name is that of a module and of what is in it, `mt_autodiff.core.scalar.Scalar.backward`; a row of
the operator table is `mt_operators.core.table[tanh]`, the statement of that module whose call has
this first argument. Names that a module only imports are followed to where they are defined, and
methods to the class that defines them.
"""

from __future__ import annotations

import ast
import difflib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mt.errors import ToolError
from mt.source.modules import (
    Definition,
    Imported,
    Library,
    Module,
    Statement,
    defined,
    documentation,
    lines_of,
)
from mt.source.signatures import made_with, signature_of


class UnknownSymbolError(ToolError):
    """A qualified name for which there is nothing in the source; says where it ends, and why."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """Something that the source defines.

    Attributes:
        name: where it is defined, as in `mt_tensor.core.matmul.matmul`.
        module: the module there.
        node: the statement there; the whole tree if it is a module.
        home: what has found it, and finds the bases of a class; None if it stands alone.
    """

    name: str
    module: Module
    node: Statement | ast.Module = field(repr=False)
    home: Symbols | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """What it is: module, class, function or value."""
        if isinstance(self.node, ast.Module):
            return "module"
        if isinstance(self.node, ast.ClassDef):
            return "class"
        return "function" if isinstance(self.node, Definition) else "value"

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line."""
        return lines_of(self.node)

    @cached_property
    def text(self) -> str:
        """Its source."""
        return self.module.text if self.kind == "module" else self.module.segment(self.node)

    @property
    def docstring(self) -> str:
        """Its docstring; of a value, the string that follows it."""
        if isinstance(self.node, ast.Module | Definition):
            return ast.get_docstring(self.node) or ""
        following = itertools.pairwise(self.module.tree.body)
        return "".join(documentation(after) for before, after in following if before is self.node)

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return self.docstring.partition("\n")[0]

    @property
    def signature(self) -> str:
        """Its arguments and what it returns, without `self`; empty unless it can be called.

        A class is called with the arguments of its `__new__` or `__init__`, of which a base may be
        the owner, or with its fields. What is made of Python's own classes, as an exception, has
        none here.
        """
        if isinstance(self.node, ast.ClassDef):
            return made_with(self)
        if isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return signature_of(self.node)
        return ""

    @property
    def bases(self) -> tuple[Symbol, ...]:
        """The classes that a class names as its bases, as far as the library has them."""
        return () if self.home is None else tuple(self.home.bases(self))


class Symbols:
    """Finds symbols in a library.

    Args:
        library: the modules.
    """

    def __init__(self, library: Library) -> None:
        self.library = library

    def of_module(self, module: Module) -> Symbol:
        """Return the symbol of a whole module."""
        return Symbol(module.name, module, module.tree, self)

    def find(self, name: str) -> Symbol:
        """Return what a qualified name stands for, as Python would after an import.

        Raises:
            UnknownSymbolError: there is no such module, or nothing of this name in it.
        """
        path, bracket, row = name.partition("[")
        found = self._walked(path) or self._of_longest_module(path)
        return self._row(found, row.removesuffix("]")) if bracket else found

    def _walked(self, name: str) -> Symbol | None:
        """Return what attribute after attribute leads to; None where there is none."""
        package, *rest = name.split(".")
        module = self.library.module(package)
        symbol = None if module is None else self.of_module(module)
        for part in rest:
            symbol = None if symbol is None else self.member(symbol, part)
        return symbol

    def _of_longest_module(self, name: str) -> Symbol:
        """Return what lies in the deepest module that the name begins with.

        A function can hide the module that it comes from, as `functional.dropout` does.
        """
        parts = name.split(".")
        for count in range(len(parts), 0, -1):
            module = self.library.module(".".join(parts[:count]))
            if module is not None:
                symbol = self.of_module(module)
                for part in parts[count:]:
                    symbol = self._needed(symbol, part, name)
                return symbol
        raise UnknownSymbolError(
            f"{name}: there is no package {parts[0]!r}; there are "
            f"{', '.join(self.library.folders)}."
        )

    def _needed(self, symbol: Symbol, part: str, asked: str) -> Symbol:
        """Return a member, or raise and name those that are called alike."""
        found = self.member(symbol, part)
        if found is None:
            near = difflib.get_close_matches(part, self.members(symbol), 3, 0.5)
            hint = f" Is it {' or '.join(near)}?" if near else ""
            place = f"{symbol.module.file.name}, line {symbol.lines[0]}"
            raise UnknownSymbolError(f"{asked}: {symbol.name} ({place}) has no {part!r}.{hint}")
        return found

    def _row(self, table: Symbol, row: str) -> Symbol:
        """Return the statement of a module that calls something with a name as first argument."""
        module = table.module
        for statement in module.tree.body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                first = next(iter(statement.value.args), None)
                if isinstance(first, ast.Constant) and first.value == row:
                    return Symbol(f"{module.name}[{row}]", module, statement, self)
        raise UnknownSymbolError(
            f"{module.name}[{row}]: no statement of {module.file.name} defines {row!r} by a call."
        )

    def members(self, symbol: Symbol) -> list[str]:
        """Return the names that can be asked of a symbol."""
        if isinstance(symbol.node, ast.Module):
            return list(symbol.module.names)
        if isinstance(symbol.node, ast.ClassDef):
            own = [name for statement in symbol.node.body for name in defined(statement)]
            inherited = [name for base in self.bases(symbol) for name in self.members(base)]
            return list(dict.fromkeys([*own, *inherited]))
        return []

    def member(self, symbol: Symbol, name: str) -> Symbol | None:
        """Return what a module or class calls by a name; None if there is none."""
        if isinstance(symbol.node, ast.Module):
            return self._of_module(symbol.module, name)
        if isinstance(symbol.node, ast.ClassDef):
            for statement in symbol.node.body:
                if name in defined(statement):
                    return self._taken(symbol, statement, name)
            for base in self.bases(symbol):
                found = self.member(base, name)
                if found is not None:
                    return found
        return None

    def _of_module(self, module: Module, name: str) -> Symbol | None:
        found = module.names.get(name)
        if isinstance(found, Imported):
            whole = found.module if found.name is None else f"{found.module}.{found.name}"
            below = self.library.module(whole)
            if below is not None:
                return self.of_module(below)
            source = self.library.module(found.module)
            if source is None or found.name is None:
                return None
            return self._of_module(source, found.name)
        if found is not None:
            return Symbol(f"{module.name}.{name}", module, found, self)
        below = self.library.module(f"{module.name}.{name}")
        return None if below is None else self.of_module(below)

    def _taken(self, owner: Symbol, statement: ast.stmt, name: str) -> Symbol:
        """Return a member of a class; `exp = functions.exp` is what is defined there."""
        if isinstance(statement, ast.Assign) and isinstance(
            statement.value, ast.Name | ast.Attribute
        ):
            found = self.resolved(owner.module, statement.value)
            if found is not None:
                return found
        return Symbol(f"{owner.name}.{name}", owner.module, statement, self)  # type: ignore[arg-type]

    def bases(self, symbol: Symbol) -> Iterator[Symbol]:
        """Yield the classes that a class names as its bases, as far as the library has them."""
        if isinstance(symbol.node, ast.ClassDef):
            for base in symbol.node.bases:
                plain = base.value if isinstance(base, ast.Subscript) else base
                found = self.resolved(symbol.module, plain)
                if found is not None and found.kind == "class":
                    yield found

    def resolved(self, module: Module, expression: ast.expr) -> Symbol | None:
        """Return what an expression of names and dots stands for in a module; None if unknown."""
        if isinstance(expression, ast.Name):
            return self._of_module(module, expression.id)
        if isinstance(expression, ast.Attribute):
            owner = self.resolved(module, expression.value)
            return None if owner is None else self.member(owner, expression.attr)
        return None
