"""Remove functions from source text, and put them back.

The rest of the text stays the same, byte for byte. A removed function keeps its signature, its
decorators and its docstring, and its errors as comments, because tests check words of the messages.
A row of the operator table keeps everything except the bodies of its lambdas.
"""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize
from collections.abc import Iterable, Iterator

from mt.errors import ToolError
from mt.skeleton.course import Task
from mt.source.editing import Edit, Text, edited
from mt.source.modules import documentation, lines_of
from mt.source.symbols import Symbol

STAND_IN = '''

def not_implemented(task: str) -> float:
    """Raise an error in place of the lambdas of a row."""
    raise NotImplementedError(task)
'''
"""The function that the lambdas of a row call instead; it is inserted after the imports."""


# --- Removing -------------------------------------------------------------------------------------


def blanked(text: str, left_out: Iterable[tuple[Symbol, Task]]) -> str:
    """Return the text of a module without some functions.

    Args:
        text: the module.
        left_out: functions and rows of this module, each with its task.

    Raises:
        ToolError: a row has no lambda.
    """
    place = Text(text)
    edits: list[Edit] = []
    has_rows = False
    for symbol, task in left_out:
        edits += _holes(place, symbol, task)
        has_rows |= not isinstance(symbol.node, ast.FunctionDef)
    if has_rows:
        edits.append(_stand_in(place))
    return edited(text, edits)


def hole(symbol: Symbol, task: Task) -> str:
    """Return the lines that `blanked` leaves of a function or row.

    Raises:
        ToolError: a row has no lambda.
    """
    start, _ = _span(symbol)
    edits = _holes(symbol.module.place, symbol, task)
    return edited(
        whole(symbol), (Edit(edit.start - start, edit.end - start, edit.text) for edit in edits)
    )


def _holes(place: Text, symbol: Symbol, task: Task) -> Iterator[Edit]:
    """Yield the edits that remove the solution of a function or row."""
    if isinstance(symbol.node, ast.FunctionDef):
        yield _without_body(place, symbol, symbol.node, task)
    else:
        yield from _without_lambdas(place, symbol, task)


def _without_body(place: Text, symbol: Symbol, function: ast.FunctionDef, task: Task) -> Edit:
    """Return the replacement of the body of a function, after its docstring."""
    first, last = function.body[0], function.body[-1]
    start = place.end_of(first) if documentation(first) else _end_of_signature(place, function)
    name = symbol.name.removeprefix(f"{symbol.module.name}.")
    indent = " " * (function.col_offset + 4)
    lines = (
        f"# Task {task.number}: {task.title}.",
        "# See TASKS.md for instructions and the tests of this task.",
        *_errors(place, function),
        f'raise NotImplementedError("Task {task.number}: {name} is not implemented.")',
    )
    body = "".join(f"\n{indent}{line}" for line in lines)
    return Edit(start, place.end_of_line(last.end_lineno or last.lineno), body)


def _errors(place: Text, function: ast.FunctionDef) -> Iterator[str]:
    """Yield comments with the errors that a function raises, each once, in order."""
    raised = [node for node in ast.walk(function) if isinstance(node, ast.Raise)]
    raised.sort(key=place.start_of)
    errors = dict.fromkeys(
        textwrap.dedent(" " * each.col_offset + place.text_of(each.exc))
        for each in raised
        if isinstance(each.exc, ast.Call)
    )
    if errors:
        yield "# Tests check the messages of its errors:"
    for error in errors:
        for line in error.split("\n"):
            yield f"#     {line}".rstrip()


def _end_of_signature(place: Text, function: ast.FunctionDef) -> int:
    """Return the index after the colon that ends a signature."""
    begin = place.starts[function.lineno - 1]
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(place.text[begin:]).readline):
        depth += token.string in {"(", "[", "{"} and token.type == tokenize.OP
        depth -= token.string in {")", "]", "}"} and token.type == tokenize.OP
        if token.string == ":" and not depth:
            line, column = token.end
            return place.starts[function.lineno + line - 2] + column
    raise AssertionError(f"the signature of {function.name} has no end.")


def _without_lambdas(place: Text, row: Symbol, task: Task) -> Iterator[Edit]:
    """Yield the replacements of the bodies of the lambdas in a row of the table."""
    call = row.node.value if isinstance(row.node, ast.Expr) else None
    arguments = call.args if isinstance(call, ast.Call) else []
    lambdas = [argument for argument in arguments if isinstance(argument, ast.Lambda)]
    if not lambdas:
        raise ToolError(f"{row.name} ({task.file.name}) has no lambda that could be removed.")
    name = row.name.partition("[")[2].removesuffix("]")
    for each in lambdas:
        reminder = f'not_implemented("Task {task.number}: {name} is not implemented.")'
        yield Edit(place.start_of(each.body), place.end_of(each.body), reminder)


def _stand_in(place: Text) -> Edit:
    """Return the insertion of the function that rows call, after the imports."""
    body = ast.parse(place.text).body
    imports = [each for each in body if isinstance(each, ast.Import | ast.ImportFrom)]
    end = place.end_of_line(imports[-1].end_lineno or 1) + 1
    return Edit(end, end, STAND_IN)


# --- Restoring ------------------------------------------------------------------------------------


def restored(text: str, solved: Iterable[tuple[Symbol, Symbol]]) -> str:
    """Return the text of a module with some functions replaced by their solutions.

    Args:
        text: the module.
        solved: pairs of a function or row of this module, and its solution.
    """
    edits = [Edit(*_span(symbol), whole(solution)) for symbol, solution in solved]
    text = edited(text, edits)
    rest = text.replace(STAND_IN, "", 1)
    return text if "not_implemented(" in rest else rest


def _span(symbol: Symbol) -> tuple[int, int]:
    """Return the start and end of the lines of a symbol."""
    place = symbol.module.place
    first, last = lines_of(symbol.node)
    return place.starts[first - 1], place.end_of_line(last)


def whole(symbol: Symbol) -> str:
    """Return the lines of a symbol as in its file, including decorators."""
    start, end = _span(symbol)
    return symbol.module.text[start:end]
