"""Changing pieces of source text that a syntax tree has found; all else stays as it is."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Edit:
    """A piece of text that is replaced.

    Attributes:
        start: where it begins, counted in characters.
        end: where it ends.
        text: what stands there then.
    """

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with pieces replaced, which do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


class Text:
    """A text in which syntax trees say what stands where.

    Args:
        text: all of it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.encode().splitlines(keepends=True)  # those of Python, and no others
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line.decode()))

    def at(self, line: int, column: int) -> int:
        """Return where a column of a line is; trees count the bytes of a line."""
        return self.starts[line - 1] + len(self.lines[line - 1][:column].decode())

    def start_of(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        """Return where a node begins."""
        return self.at(node.lineno, node.col_offset)

    def end_of(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        """Return where a node ends."""
        return self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        return self.text[self.start_of(node) : self.end_of(node)]

    def end_of_line(self, line: int) -> int:
        """Return where a line ends, before what breaks it."""
        return self.starts[line - 1] + len(self.lines[line - 1].rstrip(b"\r\n").decode())
