"""Statements of syntax trees: their lines, and which are docstrings."""

from __future__ import annotations

import ast

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def lines_of(node: ast.stmt) -> tuple[int, int]:
    """Return the first and last line of a statement, including its decorators."""
    decorators = getattr(node, "decorator_list", [])
    return min(each.lineno for each in [node, *decorators]), node.end_lineno or node.lineno


def is_docstring(node: ast.AST) -> bool:
    """Return whether a statement is only a string, such as a docstring."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
