"""Marks of tests in a few patterns: `tests/tasks.toml`, as `task_marks` reads it.

A pattern is as short as it can be without meaning a test more than it should: a whole file, a
function with all its parameters, parameters with a star for those that do not matter, or else the
parameters of one test.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from task_marks import ALL, Marks, Parameters, Patterns, literal, matches

T = TypeVar("T")

Table = dict[str, dict[str, Patterns]]
"""Marks that are not written yet."""

HEAD = """\
# Which task of the course each test waits for: `pytest -m {example}` runs those of one.
# Written by `hatch run mt skeleton {stage} --mark`.
"""

WIDTH = 100
"""How long a line may be."""

JOINT = re.compile(r"(?<![\s(\[{,=*-])(?<!\de)-(?![\s>])")
"""What pytest joins parameters with; not a minus, nor an arrow."""


def shortened(marks: Mapping[str, str], tests: Iterable[str]) -> Table:
    """Return the patterns for the marks of tests.

    Args:
        marks: by test its mark. A test is named by its file and its name: `test_a.py::test_b[c]`.
        tests: all tests, in their order, also those without a mark.
    """
    files = _grouped(test.partition("::")[::2] for test in tests)
    found: Table = {mark: {} for mark in sorted(set(marks.values()))}
    for file, names in sorted(files.items()):
        for mark, patterns in found.items():
            wanted = {name for name in names if marks.get(f"{file}::{name}") == mark}
            if wanted:
                patterns[file] = _of_file(wanted, names)
    return found


def _grouped(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def _of_file(wanted: Collection[str], names: Collection[str]) -> Patterns:
    """Return what means the wanted tests of a file, and none of its others."""
    if len(wanted) == len(names):
        return ALL
    found: dict[str, Parameters] = {}
    for function, tests in _grouped((name.partition("[")[0], name) for name in names).items():
        inside, outside = (
            [_parameters(t) for t in tests if (t in wanted) is w] for w in (True, False)
        )
        if inside and outside:
            found[function] = list(_of_function(inside, outside))
        elif inside:
            found[function] = ALL
    return found


def _parameters(test: str) -> str:
    return test.partition("[")[2].removesuffix("]")


def _of_function(inside: list[str], outside: list[str]) -> Iterator[str]:
    """Yield patterns for some parameters of a function: those that mean many come first."""
    starred = _grouped(
        (pattern, each) for each in inside for pattern in dict.fromkeys(_starred(each))
    )
    exact = {
        pattern: parameters
        for pattern, parameters in starred.items()
        if not any(matches(pattern, other) for other in outside)
    }
    left = dict.fromkeys(inside)
    while exact:
        best, covered = max(exact.items(), key=lambda item: len(item[1]))
        yield best
        for parameters in covered:
            del left[parameters]
        still = {pattern: [p for p in those if p in left] for pattern, those in exact.items()}
        exact = {pattern: those for pattern, those in still.items() if those}
    yield from map(literal, left)


def _starred(parameters: str) -> Iterator[str]:
    """Yield patterns that keep one part of some parameters, or two that are neighbours.

    Of the last of them it may be what is called alone, as in `x.sum(*`.
    """
    parts = JOINT.split(literal(parameters))
    for width in (1, 2):
        for begin in range(len(parts) - width + 1):
            before = "*-" if begin else ""
            after = "-*" if begin + width < len(parts) else ""
            yield f"{before}{'-'.join(parts[begin : begin + width])}{after}"
            called, bracket, _ = parts[begin + width - 1].partition("(")
            if bracket:
                yield f"{before}{'-'.join([*parts[begin : begin + width - 1], called])}(*"


# --- Writing --------------------------------------------------------------------------------------


def written(marks: Marks, stage: str) -> str:
    """Return the text of `tasks.toml`."""
    parts = [HEAD.format(stage=stage, example=next(iter(marks), "task2_3"))]
    for mark, files in marks.items():
        whole = [file for file, patterns in files.items() if isinstance(patterns, str)]
        if whole:
            parts.append(
                "\n".join([f"[{mark}]", *(f"{_quoted(f)} = {_quoted(ALL)}" for f in whole), ""])
            )
        for file, patterns in files.items():
            if not isinstance(patterns, str):
                lines = [_line(function, which) for function, which in patterns.items()]
                parts.append("\n".join([f"[{mark}.{_quoted(file)}]", *lines, ""]))
    return "\n".join(parts)


def _line(function: str, parameters: Parameters) -> str:
    """Return which tests of a function are meant, in as many lines as it takes."""
    key = function if function.isascii() and function.isidentifier() else _quoted(function)
    if isinstance(parameters, str):
        return f"{key} = {_quoted(parameters)}"
    names = [_quoted(each) for each in parameters]
    short = f"{key} = [{', '.join(names)}]"
    if len(short) <= WIDTH:
        return short
    lines = [""]
    for name in names:
        if len(lines[-1]) + len(name) + 6 > WIDTH and lines[-1]:
            lines.append("")
        lines[-1] += f" {name}," if lines[-1] else f"    {name},"
    return "\n".join([f"{key} = [", *lines, "]"])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
