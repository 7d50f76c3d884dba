"""Run the cells of a page: one namespace for all of them, and what each one shows.

The site runs cells twice with this module: when it is built, in a process for each page, and in the
reader's browser, where Pyodide imports it. It uses only the standard library.

A cell shows what it prints, then the value of its last expression, as a picture or a table if the
value has `_repr_svg_` or `_repr_html_`. An exception ends the cell and is shown with the lines of
the page that led to it.
"""

from __future__ import annotations

import ast
import contextlib
import html
import io
import json
import linecache
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

MOST_FRAMES = 12
"""The maximum number of lines of a traceback to show."""


@dataclass(frozen=True)
class Output:
    """The output of a cell.

    Attributes:
        printed: the text that it printed.
        html: the value of its last expression as HTML; empty if there is none.
        error: the type of the exception that ended it; empty if it ran to its end.
        trace: the traceback of that exception.
    """

    printed: str
    html: str = ""
    error: str = ""
    trace: str = ""


class Printed(io.StringIO):
    """Standard output of a cell, which also passes each piece to a function."""

    def __init__(self, listener: Callable[[str], object]) -> None:
        super().__init__()
        self._listener = listener

    def write(self, text: str) -> int:
        """Keep the text, and pass it on."""
        self._listener(text)
        return super().write(text)


def run_cell(
    source: str,
    namespace: dict[str, Any],
    name: str = "cell",
    listener: Callable[[str], object] = lambda text: None,
) -> Output:
    """Run a cell and return its output.

    Args:
        source: the code.
        namespace: the global names of the page, which the cell changes.
        name: a name of the cell for tracebacks.
        listener: called with each piece of text that is printed.
    """
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    printed = Printed(listener)
    try:
        with contextlib.redirect_stdout(printed):
            value = _evaluate(source, namespace, filename)
            shown = "" if value is None else _as_html(value)
    except Exception as error:  # noqa: BLE001 - the cell may raise anything
        return Output(printed.getvalue(), "", type(error).__name__, _trace(error, filename))
    return Output(printed.getvalue(), shown)


def _evaluate(source: str, namespace: dict[str, Any], filename: str) -> Any:
    """Execute statements, and return the value of the last one if that is an expression."""
    tree = ast.parse(source, filename)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, filename, "exec"), namespace)
        return None
    tree.body.pop()
    exec(compile(tree, filename, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), filename, "eval"), namespace)


def _as_html(value: Any) -> str:
    """Return a value as HTML: its own, its SVG, or its `repr`."""
    for method in ("_repr_html_", "_repr_svg_"):
        draw = getattr(value, method, None)
        if draw is not None and not isinstance(value, type):
            return str(draw())
    return f"<pre>{html.escape(repr(value))}</pre>"


def _trace(error: Exception, filename: str) -> str:
    """Return the traceback, with the frames of the page's cells only."""
    frames = traceback.extract_tb(error.__traceback__)
    cells = [frame for frame in frames if frame.filename.startswith("<cell")]
    places = ["" if frame.filename == filename else "a cell above, " for frame in cells]
    lines = [
        f"{place}line {frame.lineno}: {frame.line}\n"
        for place, frame in zip(places, cells, strict=True)
    ]
    if len(lines) > MOST_FRAMES:  # an endless recursion
        lines[3:-3] = [f"... {len(lines) - 6} more lines ...\n"]
    return "".join([*lines, *traceback.format_exception_only(error)])


def run_page(cells: Iterable[tuple[str, str]]) -> list[Output]:
    """Run the cells of a page, pairs of a name and the source, in order."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    return [run_cell(source, namespace, name) for name, source in cells]


if __name__ == "__main__":
    found = run_page(json.load(sys.stdin))
    print(json.dumps([asdict(output) for output in found]))
