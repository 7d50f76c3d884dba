"""Symbols: look up qualified names in the source.

A qualified name is a module and a name in it, `mt_autodiff.core.scalar.Scalar.backward`. A row of
the operator table is `mt_operators.core.table[tanh]`, the statement of that module whose call has
this first argument. Imported names are followed to their definition, and methods to the class that
defines them.
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
    """A qualified name that the source does not define; the message says which part is missing."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """A definition in the source.

    Attributes:
        name: the qualified name of its definition, such as `mt_tensor.core.matmul.matmul`.
        module: the module that defines it.
        node: its statement; the whole tree if it is a module.
        home: the lookup that found it, which resolves the bases of a class; may be None.
    """

    name: str
    module: Module
    node: Statement | ast.Module = field(repr=False)
    home: Symbols | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """The kind of definition: module, class, function or value."""
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
        """Its docstring; for a value, the string after it."""
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
        """Its parameters and return annotation, without `self`; empty if it is not callable.

        The parameters of a class are those of its `__new__` or `__init__`, which may be inherited,
        or its fields. They are unknown if Python's own classes define them, as for exceptions.
        """
        if isinstance(self.node, ast.ClassDef):
            return made_with(self)
        if isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return signature_of(self.node)
        return ""

    @property
    def bases(self) -> tuple[Symbol, ...]:
        """The base classes of a class, as far as the library has them."""
        return () if self.home is None else tuple(self.home.bases(self))


class Symbols:
    """Look up symbols in a library.

    Args:
        library: the modules.
    """

    def __init__(self, library: Library) -> None:
        self.library = library

    def of_module(self, module: Module) -> Symbol:
        """Return the symbol of a whole module."""
        return Symbol(module.name, module, module.tree, self)

    def find(self, name: str) -> Symbol:
        """Return the definition of a qualified name, resolved as Python does after an import.

        Raises:
            UnknownSymbolError: there is no such module, or it does not define the name.
        """
        path, bracket, row = name.partition("[")
        found = self._walked(path) or self._of_longest_module(path)
        return self._row(found, row.removesuffix("]")) if bracket else found

    def _walked(self, name: str) -> Symbol | None:
        """Return the result of following the attributes of a package; None if one is missing."""
        package, *rest = name.split(".")
        module = self.library.module(package)
        symbol = None if module is None else self.of_module(module)
        for part in rest:
            symbol = None if symbol is None else self.member(symbol, part)
        return symbol

    def _of_longest_module(self, name: str) -> Symbol:
        """Return a definition in the deepest module that is a prefix of the name.

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
        """Return a member; if it is missing, raise an error that suggests similar names."""
        found = self.member(symbol, part)
        if found is None:
            near = difflib.get_close_matches(part, self.members(symbol), 3, 0.5)
            hint = f" Is it {' or '.join(near)}?" if near else ""
            place = f"{symbol.module.file.name}, line {symbol.lines[0]}"
            raise UnknownSymbolError(f"{asked}: {symbol.name} ({place}) has no {part!r}.{hint}")
        return found

    def _row(self, table: Symbol, row: str) -> Symbol:
        """Return the statement of a module that calls a function with this string first."""
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
        """Return the names of the members of a symbol."""
        if isinstance(symbol.node, ast.Module):
            return list(symbol.module.names)
        if isinstance(symbol.node, ast.ClassDef):
            own = [name for statement in symbol.node.body for name in defined(statement)]
            inherited = [name for base in self.bases(symbol) for name in self.members(base)]
            return list(dict.fromkeys([*own, *inherited]))
        return []

    def member(self, symbol: Symbol, name: str) -> Symbol | None:
        """Return the member of a module or class with a name; None if there is none."""
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
        """Return a member of a class; `exp = functions.exp` is followed to the definition."""
        if isinstance(statement, ast.Assign) and isinstance(
            statement.value, ast.Name | ast.Attribute
        ):
            found = self.resolved(owner.module, statement.value)
            if found is not None:
                return found
        return Symbol(f"{owner.name}.{name}", owner.module, statement, self)  # type: ignore[arg-type]

    def bases(self, symbol: Symbol) -> Iterator[Symbol]:
        """Yield the base classes of a class, as far as the library has them."""
        if isinstance(symbol.node, ast.ClassDef):
            for base in symbol.node.bases:
                plain = base.value if isinstance(base, ast.Subscript) else base
                found = self.resolved(symbol.module, plain)
                if found is not None and found.kind == "class":
                    yield found

    def resolved(self, module: Module, expression: ast.expr) -> Symbol | None:
        """Return the definition of a dotted expression in a module; None if unknown."""
        if isinstance(expression, ast.Name):
            return self._of_module(module, expression.id)
        if isinstance(expression, ast.Attribute):
            owner = self.resolved(module, expression.value)
            return None if owner is None else self.member(owner, expression.attr)
        return None
