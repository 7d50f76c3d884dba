"""The functions and methods of a stage, with their code in a form that can be compared."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from mt.source.modules import Library, Module, definitions, documentation
from mt.source.parts import Part, part_of

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, eq=False)
class Function:
    """A function or method of a stage.

    Attributes:
        name: its qualified name, such as `mt_autodiff.core.scalar.Scalar.backward`.
        module: the module that defines it.
        node: its definition.
    """

    name: str
    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef = field(repr=False)

    @property
    def short(self) -> str:
        """The last part of its name."""
        return self.node.name

    @property
    def owner(self) -> str:
        """The class that it belongs to or is registered with; empty if there is none."""
        inside = self.name.removeprefix(f"{self.module.name}.").rpartition(".")[0]
        marks = {ast.unparse(mark).partition("(")[0] for mark in self.node.decorator_list}
        return "Tensor" if not inside and marks & {"method", "attribute"} else inside

    @cached_property
    def code(self) -> str:
        """Its code without docstrings, annotations and imports, in normalized formatting."""
        return ast.unparse(_Folding().visit(deepcopy(self.node)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its code as a sequence of words and signs."""
        return tuple(_WORD.findall(self.code))


class _Folding(ast.NodeTransformer):
    """Remove docstrings, annotations and imports from a tree."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Remove annotations, and add `pass` to empty bodies."""
        super().generic_visit(node)
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def visit_Import(self, _: ast.Import) -> None:
        """Drop an import."""

    def visit_ImportFrom(self, _: ast.ImportFrom) -> None:
        """Drop an import."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Make an annotated assignment a plain one, and remove a bare annotation."""
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign([node.target], self.visit(node.value)), node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Drop a docstring."""
        return None if documentation(node) else self.generic_visit(node)


@cache
def functions(library: Library, package: str, parts: tuple[Part, ...]) -> tuple[Function, ...]:
    """Return the functions and methods of some parts of a package."""
    return tuple(_functions(library, package, parts))


def _functions(library: Library, package: str, parts: tuple[Part, ...]) -> Iterator[Function]:
    for module in library.modules(package):
        if part_of(module) in parts:
            for name, node in definitions(module):
                yield Function(name, module, node)
