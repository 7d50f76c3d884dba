"""Python as highlighted HTML, with links from names to their definitions in the workspace.

Each line of the file is an element of the page: the style sheet numbers it, and indents the
continuation of wrapped lines.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape
from pygments.lexers import PythonLexer
from pygments.token import Token

from mt.diff.functions import Function
from mt.source.modules import Definition, Module, documentation, lines_of
from mt.source.symbols import Symbol, Symbols
from mt.source.uses import Use, uses

COLOURS = (
    (Token.Comment, "c"),
    (Token.Literal.String.Doc, "c"),
    (Token.Literal.String, "s"),
    (Token.Literal.Number, "m"),
    (Token.Keyword, "k"),
    (Token.Operator.Word, "k"),
    (Token.Name.Decorator, "d"),
    (Token.Name.Function, "d"),
    (Token.Name.Class, "d"),
)
"""The classes of the style sheet by token type; the first match counts."""

DEEPEST = 8
"""The maximum number of indentation steps for wrapped lines."""


@dataclass(frozen=True)
class Piece:
    """A part of a line with one style and one link.

    Attributes:
        text: its characters.
        colour: a class of the style sheet; empty for none.
        target: the symbol it links to; None without a link.
    """

    text: str
    colour: str = ""
    target: Symbol | None = None


Line = list[Piece]


# --- Paths of definitions -------------------------------------------------------------------------


def source_path(module: Module) -> str:
    """Return the path of the page of a module; its lines are at #L1, #L2, ..."""
    return f"source/{module.name}.html"


def place(definition: Function | Symbol) -> str:
    """Return the path and line of a definition."""
    return f"{source_path(definition.module)}#L{lines_of(definition.node)[0]}"


# --- Lines and excerpts ---------------------------------------------------------------------------


def plain_lines(text: str) -> list[Line]:
    """Return Python code as highlighted lines."""
    return _cut(text, {})


def _cut(text: str, links: dict[int, list[Use]]) -> list[Line]:
    """Return the lines of a text, split where the color or the link changes."""
    lines: list[Line] = [[]]
    column = 0
    for token, written in PythonLexer(stripnl=False).get_tokens(text):
        colour = _colour(token)
        for count, part in enumerate(written.split("\n")):
            if count:
                lines.append([])
                column = 0
            lines[-1] += _linked(part, colour, column, links.get(len(lines), []))
            column += len(part)
    while lines and not lines[-1]:
        lines.pop()
    return lines


@functools.cache
def _colour(token: Any) -> str:
    """Return the class of a Pygments token; cached, because membership tests are slow."""
    return next((name for family, name in COLOURS if token in family), "")


def _linked(text: str, colour: str, column: int, links: list[Use]) -> Iterator[Piece]:
    """Yield the pieces of a token, split at links."""
    start = 0
    for use in links:
        first, last = use.start - column, use.end - column
        if start <= first < last <= len(text):
            if start < first:
                yield Piece(text[start:first], colour)
            yield Piece(text[first:last], colour, use.symbol)
            start = last
    if start < len(text):
        yield Piece(text[start:], colour)


class Listings:
    """The highlighted lines of modules, each read once.

    Args:
        symbols: the lookup of link targets.
    """

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._read: dict[str, list[Line]] = {}

    def lines(self, module: Module) -> list[Line]:
        """Return the lines of a module."""
        if module.name not in self._read:
            links = defaultdict(list)
            for use in sorted(uses(module, self._symbols), key=lambda use: use.start):
                links[use.line].append(use)
            self._read[module.name] = _cut(module.text, links)
        return self._read[module.name]

    def excerpt(self, symbol: Symbol) -> list[Line]:
        """Return the lines of a definition, without its docstring and with one line of inner ones.

        `documented` returns the docstring.
        """
        lines = self.lines(symbol.module)
        first, last = symbol.lines
        kept = {number: lines[number - 1] for number in range(first, last + 1)}
        for node in ast.walk(symbol.node):
            if not isinstance(node, Definition) or not documentation(node.body[0]):
                continue
            start, end = lines_of(node.body[0])
            if start == node.lineno:
                continue
            if node is symbol.node:
                is_followed_by_space = kept.get(end + 1) == []
                for number in range(start, end + 1 + is_followed_by_space):
                    kept.pop(number)
            elif end > start:
                kept[start] = [*kept[start], Piece(' …"""', "c")]
                for number in range(start + 1, end + 1):
                    kept.pop(number)
        return _dedented(list(kept.values()))


def _dedented(lines: list[Line]) -> list[Line]:
    """Remove the indentation of the first line from all lines."""
    indent = _indent(lines[0]) if lines else 0
    return [_without(line, min(indent, _indent(line))) for line in lines]


def _indent(line: Line) -> int:
    text = "".join(piece.text for piece in line)
    return len(text) - len(text.lstrip(" "))


def _without(line: Line, count: int) -> Line:
    """Remove the first `count` characters of a line, which are spaces."""
    found = []
    for piece in line:
        found.append(Piece(piece.text[count:], piece.colour, piece.target))
        count = max(0, count - len(piece.text))
    return [piece for piece in found if piece.text]


def documented(symbol: Symbol) -> tuple[str, str]:
    """Return the first line of a symbol's docstring, and the rest, formatted as written."""
    if not isinstance(symbol.node, Definition):
        return symbol.summary, ""
    text = inspect.cleandoc(ast.get_docstring(symbol.node) or "")
    summary, _, rest = text.partition("\n")
    return summary, rest.strip("\n")


def summary(module: Module) -> str:
    """Return the first line of a module's docstring."""
    return (ast.get_docstring(module.tree) or "").partition("\n")[0]


# --- HTML -----------------------------------------------------------------------------------------


def listing(lines: list[Line], up: str = "", *, numbered: bool = False) -> Markup:
    """Return lines as HTML.

    Args:
        lines: the lines.
        up: the relative path from the page to the site's folder.
        numbered: whether it is a whole file, whose lines have numbers and anchors.
    """
    rows = (_row(line, up, count if numbered else 0) for count, line in enumerate(lines, 1))
    kind = "code numbered" if numbered else "code"
    return Markup(f'<pre class="{kind}"><code>{"".join(rows)}</code></pre>')


def _row(line: Line, up: str, number: int) -> str:
    step = min(_indent(line) // 4, DEEPEST)
    anchor = f' id="L{number}"' if number else ""
    hanging = f' class="i{step}"' if step else ""
    parts = [
        _leading(list(pieces), target, up)
        for target, pieces in itertools.groupby(line, lambda piece: piece.target)
    ]
    return f"<span{anchor}{hanging}>{''.join(parts)}\n</span>"


def _leading(pieces: Line, target: Symbol | None, up: str) -> str:
    """Return pieces with the same target as HTML."""
    parts = []
    for colour, alike in itertools.groupby(pieces, lambda piece: piece.colour):
        text = escape("".join(piece.text for piece in alike))
        parts.append(f'<span class="{colour}">{text}</span>' if colour else text)
    shown = "".join(parts)
    return shown if target is None else f'<a href="{up}{place(target)}">{shown}</a>'
