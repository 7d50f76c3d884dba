"""The source of a definition, shortened for readers."""

from __future__ import annotations

import ast
import re

from griffe import Object

from mt.source.statements import Definition, is_docstring, lines_of
from mt.source.symbols import node_of

_DIRECTIVE = re.compile(r"  # (?:type: ignore|noqa|fmt:)(?:(?! # ).)*")
"""A comment for a tool, which readers do not need."""


def excerpt(symbol: Object, docstring: bool = False, only: list[str] | None = None) -> str:
    """Return the source of a definition, dedented, without comments for tools.

    Args:
        symbol: the definition.
        docstring: whether to keep docstrings.
        only: the members of a class to show; others are replaced by `...`.
    """
    node = node_of(symbol)
    lines_shown = dict(enumerate(symbol.lines, symbol.lineno or 1))
    if not docstring:
        _drop_docstrings(lines_shown, node)
    if only and isinstance(node, ast.ClassDef):
        lines_shown = _only(lines_shown, node, only)
    text = [_DIRECTIVE.sub("", line) for line in lines_shown.values()]
    indent = len(text[0]) - len(text[0].lstrip())
    while text and not text[-1].strip():
        text.pop()
    return "\n".join(line[indent:] for line in text)


def _drop_docstrings(lines_shown: dict[int, str], tree: ast.AST) -> None:
    """Remove docstrings, and the blank line after each."""
    for node in ast.walk(tree):
        if not isinstance(node, Definition) or not is_docstring(node.body[0]):
            continue
        start, end = lines_of(node.body[0])
        if len(node.body) == 1:
            continue
        for number in range(start, end + 1):
            lines_shown.pop(number, None)
        if not lines_shown.get(end + 1, "text").strip():
            lines_shown.pop(end + 1)


def _only(lines_shown: dict[int, str], tree: ast.ClassDef, only: list[str]) -> dict[int, str]:
    """Return the lines of a class with some members; the others are replaced by an ellipsis.

    Raises:
        ValueError: a member does not exist.
    """
    members = {node.name: node for node in tree.body if isinstance(node, Definition)}
    missing = [name for name in only if name not in members]
    if missing:
        raise ValueError(f"{tree.name} has no {', '.join(missing)}; it has {', '.join(members)}.")
    shown = {number for name in only for number in _span(members[name])}
    body = lines_of(tree.body[0])[0]
    ellipsis = " " * tree.body[0].col_offset + "..."
    lines: dict[int, str] = {}
    for number, line in lines_shown.items():
        if number < body or number in shown:
            lines[number] = line
        elif line.strip():
            if next(reversed(lines.values())) == "":
                lines.popitem()
            if next(reversed(lines.values())) != ellipsis:
                lines[number] = ellipsis
        elif next(reversed(lines.values())) not in ("", ellipsis):
            lines[number] = ""
    return lines


def _span(node: ast.stmt) -> range:
    first, last = lines_of(node)
    return range(first, last + 1)
