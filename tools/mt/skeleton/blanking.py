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

from griffe import Object

from mt.errors import ToolError
from mt.skeleton.course import Task
from mt.source.editing import Edit, Text, edited
from mt.source.statements import is_docstring
from mt.source.symbols import name_of, node_of

STAND_IN = '''

def not_implemented(task: str) -> float:
    """Raise an error in place of the lambdas of a row."""
    raise NotImplementedError(task)
'''
"""The function that the lambdas of a row call instead; it is inserted after the imports."""


# --- Removing -------------------------------------------------------------------------------------


def blanked(text: str, left_out: Iterable[tuple[Object, Task]]) -> str:
    """Return the text of a module without some functions.

    Args:
        text: the module.
        left_out: functions and rows of this module, each with its task.

    Raises:
        ToolError: a row has no lambda.
    """
    left_out = list(left_out)
    text = _replaced(text, ((symbol, hole(symbol, task)) for symbol, task in left_out))
    has_rows = any(isinstance(node_of(symbol), ast.Expr) for symbol, _ in left_out)
    return _with_stand_in(text) if has_rows else text


def hole(symbol: Object, task: Task) -> str:
    """Return the lines that `blanked` leaves of a function or row.

    Raises:
        ToolError: a row has no lambda.
    """
    above = (symbol.lineno or 1) - 1
    source = Text("\n" * above + source_of(symbol))
    node = node_of(symbol)
    if isinstance(node, ast.FunctionDef):
        edits = [_without_body(source, symbol, node, task)]
    else:
        edits = list(_without_lambdas(source, symbol, node, task))
    return edited(source.text, edits)[above:]


def _without_body(source: Text, symbol: Object, function: ast.FunctionDef, task: Task) -> Edit:
    """Return the replacement of the body of a function, after its docstring."""
    first, last = function.body[0], function.body[-1]
    start = source.end_of(first) if is_docstring(first) else _end_of_signature(source, function)
    name = symbol.path.removeprefix(f"{symbol.module.path}.")
    indent = " " * (function.col_offset + 4)
    lines = (
        f"# Task {task.number}: {task.title}.",
        "# See TASKS.md for instructions and the tests of this task.",
        *_errors(source, function),
        f'raise NotImplementedError("Task {task.number}: {name} is not implemented.")',
    )
    body = "".join(f"\n{indent}{line}" for line in lines)
    return Edit(start, source.end_of_line(last.end_lineno or last.lineno), body)


def _errors(source: Text, function: ast.FunctionDef) -> Iterator[str]:
    """Yield comments with the errors that a function raises, each once, in order."""
    raised = [node for node in ast.walk(function) if isinstance(node, ast.Raise)]
    raised.sort(key=source.start_of)
    errors = dict.fromkeys(
        textwrap.dedent(" " * each.col_offset + source.text_of(each.exc))
        for each in raised
        if isinstance(each.exc, ast.Call)
    )
    if errors:
        yield "# Tests check the messages of its errors:"
    for error in errors:
        for line in error.split("\n"):
            yield f"#     {line}".rstrip()


def _end_of_signature(source: Text, function: ast.FunctionDef) -> int:
    """Return the index after the colon that ends a signature."""
    begin = source.starts[function.lineno - 1]
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(source.text[begin:]).readline):
        depth += token.string in {"(", "[", "{"} and token.type == tokenize.OP
        depth -= token.string in {")", "]", "}"} and token.type == tokenize.OP
        if token.string == ":" and not depth:
            line, column = token.end
            return source.starts[function.lineno + line - 2] + column
    raise AssertionError(f"the signature of {function.name} has no end.")


def _without_lambdas(source: Text, row: Object, node: ast.Expr, task: Task) -> Iterator[Edit]:
    """Yield the replacements of the bodies of the lambdas in a row of the table."""
    arguments = node.value.args if isinstance(node.value, ast.Call) else []
    lambdas = [argument for argument in arguments if isinstance(argument, ast.Lambda)]
    if not lambdas:
        raise ToolError(f"{name_of(row)} ({task.file.name}) has no lambda that could be removed.")
    for each in lambdas:
        reminder = f'not_implemented("Task {task.number}: {row.name[1:-1]} is not implemented.")'
        yield Edit(source.start_of(each.body), source.end_of(each.body), reminder)


def _with_stand_in(text: str) -> str:
    """Insert the function that rows call after the imports."""
    body = ast.parse(text).body
    imports = [each for each in body if isinstance(each, ast.Import | ast.ImportFrom)]
    end = Text(text).end_of_line(imports[-1].end_lineno or 1) + 1
    return text[:end] + STAND_IN + text[end:]


# --- Restoring ------------------------------------------------------------------------------------


def restored(text: str, solved: Iterable[tuple[Object, Object]]) -> str:
    """Return the text of a module with some functions replaced by their solutions.

    Args:
        text: the module.
        solved: pairs of a function or row of this module, and its solution.
    """
    text = _replaced(text, ((symbol, source_of(solution)) for symbol, solution in solved))
    rest = text.replace(STAND_IN, "", 1)
    return text if "not_implemented(" in rest else rest


def _replaced(text: str, pieces: Iterable[tuple[Object, str]]) -> str:
    """Return a text in which the lines of some symbols are replaced."""
    lines = text.split("\n")
    for symbol, piece in sorted(pieces, key=lambda each: each[0].lineno or 1, reverse=True):
        lines[(symbol.lineno or 1) - 1 : symbol.endlineno] = [piece]
    return "\n".join(lines)


def source_of(symbol: Object) -> str:
    """Return the lines of a symbol as in its file, including decorators."""
    return "\n".join(symbol.lines)
