"""Examples of the reference, `docs/examples/STAGE.txt`: a session of Python for each public name.

A name stands at the beginning of a line, and its example below it, indented:

    functional.relu
        >>> F.relu(mt.tensor([-1.0, 2.0]))
        tensor([0., 2.])

The lines before the first name run before each example, and are not shown. `python -m
mt.docs.examples STAGE` runs all examples of a stage, and writes the results into the file; an
example with a seed, or without random numbers, always gives the same.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import sys
import traceback
import warnings
from textwrap import dedent, indent
from typing import Any

from mt.workspace import ROOT

FOLDER = ROOT / "docs" / "examples"

_EXAMPLE = re.compile(r"^(\S+)\n((?:[ ].*\n|\n(?=[ ]))*)", re.MULTILINE)


def read_examples(stage: str) -> dict[str, str]:
    """Return the examples of a stage, by name; none if it has no file."""
    file = FOLDER / f"{stage}.txt"
    return _parsed(file.read_text(encoding="utf-8"))[1] if file.exists() else {}


def _parsed(text: str) -> tuple[str, dict[str, str]]:
    """Return the lines before the first name, and the examples."""
    first = _EXAMPLE.search(text, text.find("\n\n"))
    prelude = text[: first.start()] if first else text
    examples: dict[str, str] = {}
    for name, code in _EXAMPLE.findall(text[len(prelude) :]):
        if name in examples:
            raise ValueError(f"{name} has two examples")
        examples[name] = dedent(code).strip()
    return prelude, examples


def with_results(code: str, names: dict[str, Any]) -> str:
    """Run a session, and return it with its results instead of those written in it.

    Args:
        code: the session.
        names: the names that it uses, to which it adds its own.
    """
    lines = []
    for example in doctest.DocTestParser().get_examples(code):
        first, *others = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}".rstrip() for line in others)]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(example.source, "<example>", "single"), names)
            except Exception as error:  # noqa: BLE001 - shown as the result
                name = type(error).__name__
                message = traceback.format_exception_only(error)[-1].partition(": ")[2].strip()
                print(f"Traceback (most recent call last):\n    ...\n{name}: {message}")
        lines += printed.getvalue().rstrip("\n").splitlines()
    return "\n".join(lines)


def run_examples(stage: str) -> dict[str, str]:
    """Run the examples of a stage, and return them with their results, by name."""
    prelude, examples = _parsed((FOLDER / f"{stage}.txt").read_text(encoding="utf-8"))
    found = {}
    for name, code in examples.items():
        names: dict[str, Any] = {"__name__": "__main__"}
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            with_results(prelude, names)
            found[name] = with_results(code, names)
    return found


def update(stage: str) -> list[str]:
    """Write the results of all examples of a stage; return the names whose results changed."""
    file = FOLDER / f"{stage}.txt"
    prelude, before = _parsed(file.read_text(encoding="utf-8"))
    after = run_examples(stage)
    parts = [f"{name}\n{indent(code, '    ')}\n" for name, code in after.items()]
    file.write_text("\n".join([prelude.rstrip("\n") + "\n", *parts]), encoding="utf-8")
    return [name for name, code in after.items() if code != before[name]]


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(f"{each}: {', '.join(update(each)) or 'nothing'} changed")
