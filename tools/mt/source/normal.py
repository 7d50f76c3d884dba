"""Code without what only people and type checkers read, so that what is left can be compared.

Docstrings, annotations and imports are folded away. Two definitions are *the same* if what is left
is, and *renamed* if it is after every name has been replaced by the number of its first appearance.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from mt.source.modules import Definition, Module, documentation


class _Folding(ast.NodeTransformer):
    """Takes out of a tree what does not compute."""

    def visit_Import(self, node: ast.Import) -> None:
        """Drop an import."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Drop an import."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Drop the annotation of an argument."""
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Make an annotated assignment a plain one, and nothing of a bare annotation."""
        if node.value is None:
            return None
        plain = ast.Assign([node.target], self.visit(node.value))
        return ast.copy_location(plain, node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Drop a string that stands alone, which documents something."""
        return None if documentation(node) else self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Drop what a function says that it returns."""
        node.returns = None
        return self._filled(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        """Drop what a function says that it returns."""
        node.returns = None
        return self._filled(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Fold what is in a class."""
        return self._filled(node)

    def visit_If(self, node: ast.If) -> Any:
        """Keep a branch whose body held only imports."""
        return self._filled(node)

    def visit_Try(self, node: ast.Try) -> Any:
        """Keep an attempt whose body held only imports."""
        return self._filled(node)

    def visit_With(self, node: ast.With) -> Any:
        """Keep a block whose body held only imports."""
        return self._filled(node)

    def _filled(self, node: Any) -> Any:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


def folded(module: Module) -> ast.Module:
    """Return the tree of a module without docstrings, annotations and imports."""
    found: ast.Module = _Folding().visit(ast.parse(module.text))
    return found


def text_of(node: ast.AST) -> str:
    """Return the code of a folded definition, laid out in one way."""
    return ast.unparse(node)


class _Numbering(ast.NodeTransformer):
    """Replaces every name by the number of its first appearance."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}

    def _number(self, name: str) -> str:
        return self.numbers.setdefault(name, f"n{len(self.numbers)}")

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Replace the names of a node, whatever it is, in the order in which they stand."""
        for field in ("name", "id", "arg", "attr"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                setattr(node, field, self._number(name))
        return super().generic_visit(node)


def shape_of(code: str) -> str:
    """Return what two pieces of code share that differ in names only."""
    return ast.dump(_Numbering().visit(ast.parse(code)))


def definitions(
    tree: ast.Module, module: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a module and the methods of its classes, with their dotted names.

    Args:
        tree: the module, or what is left of it when it is folded.
        module: its name.
    """

    def within(body: list[ast.stmt], prefix: str) -> Any:
        for statement in body:
            if isinstance(statement, ast.ClassDef):
                yield from within(statement.body, f"{prefix}{statement.name}.")
            elif isinstance(statement, Definition):
                yield f"{prefix}{statement.name}", statement

    yield from within(tree.body, f"{module}.")
