"""Replace pieces of source text by position in a syntax tree; the rest stays unchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Edit:
    """A replacement of a piece of text.

    Attributes:
        start: the position of its first character.
        end: the position after its last character.
        text: the replacement.
    """

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text after applying edits, which do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


class Text:
    """A text with conversion of the positions in its syntax tree to indices of characters.

    Args:
        text: the complete text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.encode().splitlines(keepends=True)  # splits where Python does
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line.decode()))

    def at(self, line: int, column: int) -> int:
        """Return the index of a column of a line; syntax trees count columns in bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1][:column].decode())

    def start_of(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        """Return the index of the first character of a node."""
        return self.at(node.lineno, node.col_offset)

    def end_of(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        """Return the index after the last character of a node."""
        return self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        return self.text[self.start_of(node) : self.end_of(node)]

    def end_of_line(self, line: int) -> int:
        """Return the index of the end of a line, before the line break."""
        return self.starts[line - 1] + len(self.lines[line - 1].rstrip(b"\r\n").decode())
