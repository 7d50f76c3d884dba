"""Test ids that are made from the content of parameters instead of row numbers.

Reports, command lines and the marks of the course name a test by its id, `test_sum[x.sum(1)]`. A
numbered id such as `test_sum[<lambda>3]` changes when a row is inserted before it; these do not.
Rows with the same content have the same id, which pytest rejects in strict mode.

Nothing here calls code of a stage, since students may not have written it yet.
"""

from __future__ import annotations

import ast
import inspect
import sys
import zlib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path, PurePath
from types import CodeType, FunctionType
from typing import Any

MAX_LENGTH = 80
"""The largest length of an id; the end of longer ones is replaced by a checksum."""

MAX_AVERAGE_LENGTH = 7
"""The largest average length of an array's elements; others are described by their shape."""

MAX_ELEMENTS = 8
"""The largest number of elements of an array; others are described by their shape."""

TRUSTED_REPR = {*sys.stdlib_module_names, "numpy"}
"""The packages of types whose `repr` describes the content."""


def sample_id(*parts: Any) -> str:
    """Return the id of a sample with these parts, joined as pytest joins them.

    A string is used as it is. A lambda is described by its body, a named function or class by its
    name, an array by its elements or, if there are many, its shape, and a dataclass instance by its
    `name` or else its type and fields. Containers are described by their elements, other objects of
    the standard library or NumPy by their `repr`, and all others by their type.
    """
    return "-".join(_shortened(part if isinstance(part, str) else text(part)) for part in parts)


def _shortened(description: str) -> str:
    """Return a text in printable ASCII, shortened if it is too long."""
    line = description.encode("unicode_escape").decode("ascii")
    if len(line) <= MAX_LENGTH:
        return line
    return f"{line[: MAX_LENGTH - 10]}..{zlib.crc32(line.encode()):08x}"


def text(value: Any) -> str:
    """Return a full description of a value, the same in every process and on every machine."""
    match value:
        case FunctionType(__name__="<lambda>"):
            return _body(value)
        case FunctionType(__closure__=tuple()) if not hasattr(value, "__wrapped__"):
            return f"{value.__name__}({', '.join(_named(_closure(value)))})"
        case partial():
            arguments = [text(value.func), *map(text, value.args), *_named(value.keywords)]
            return f"partial({', '.join(arguments)})"
        case tuple() | list() | set() | frozenset():
            return _collection(value)
        case Mapping():
            return f"{{{', '.join(f'{text(key)}: {text(each)}' for key, each in value.items())}}}"
        case Enum():
            return str(value)
        case PurePath():
            return value.name
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else _object(value)


def _named(values: Mapping[str, Any]) -> Iterator[str]:
    return (f"{name}={text(value)}" for name, value in values.items())


def _collection(values: tuple[Any, ...] | list[Any] | set[Any] | frozenset[Any]) -> str:
    parts = [text(each) for each in values]
    if isinstance(values, list):
        return f"[{', '.join(parts)}]"
    if isinstance(values, tuple):
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
    return f"{{{', '.join(sorted(parts))}}}"


def _object(value: Any) -> str:
    kind = type(value).__name__
    if kind == "ndarray":
        return _array(value)
    if type(value).__module__.partition(".")[0] in TRUSTED_REPR:
        shown = repr(value)
        return kind if " at 0x" in shown else shown
    if not is_dataclass(value):
        return kind
    content = {field.name: getattr(value, field.name) for field in fields(value)}
    name = content.get("name")
    return name if isinstance(name, str) else f"{kind}({', '.join(_named(content))})"


def _array(value: Any) -> str:
    elements = str(value.tolist()) if value.size <= MAX_ELEMENTS else ""
    is_short = 0 < len(elements) <= MAX_AVERAGE_LENGTH * value.size
    return f"{value.dtype} {elements}" if is_short else f"{value.dtype}{text(value.shape)}"


# --- Functions without a name ---------------------------------------------------------------------


def _body(function: FunctionType) -> str:
    """Return the source of a lambda's body, with its defaults and closure values inserted."""
    node = _node(function.__code__)
    if node is None:
        return function.__name__
    values = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not parameter.empty
    }
    values |= _closure(function)
    return ast.unparse(_Inserted(values).visit(deepcopy(node.body)) if values else node.body)


def _closure(function: FunctionType) -> dict[str, Any]:
    """Return the closure variables of a function, except itself."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {
        name: cell.cell_contents
        for name, cell in cells
        if name not in {function.__name__, "__class__"}
    }


class _Inserted(ast.NodeTransformer):
    """A transformer that replaces names by descriptions of their values."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Replace a name that has a value."""
        return ast.Name(text(self.values[node.id])) if node.id in self.values else node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        """Replace the name of a string by the string itself."""
        value = self.values.get(node.value.id) if isinstance(node.value, ast.Name) else None
        return ast.Constant(value) if isinstance(value, str) else node


def _node(code: CodeType) -> ast.Lambda | None:
    """Return the lambda of a code object, if its file can be read."""
    candidates = _lambdas(code.co_filename).get(code.co_firstlineno, [])
    if len(candidates) > 1:
        candidates = [node for node in candidates if _is_of(code, node.body)]
    return candidates[-1] if candidates else None  # the innermost


def _is_of(code: CodeType, body: ast.expr) -> bool:
    """Return whether all positions of a code object lie in an expression."""
    spans = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line and end_line and column is not None and end_column  # some are incomplete
    ]
    if not spans:  # for a constant in Python 3.12
        return isinstance(body, ast.Constant) and repr(body.value) == repr(code.co_consts[-1])
    begin, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    return begin <= min(spans)[0] and max(last for _, last in spans) <= end


@cache
def _lambdas(file: str) -> dict[int, list[ast.Lambda]]:
    """Return the lambdas of a file by their first line."""
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return {}
    by_line: dict[int, list[ast.Lambda]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            by_line.setdefault(node.lineno, []).append(node)
    return by_line
