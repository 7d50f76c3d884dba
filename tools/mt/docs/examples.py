"""Examples of the reference, `docs/examples/STAGE.txt`: code with its results, by public name.

A name stands at the beginning of a line, and its example below it, indented, as in a session of
Python:

    functional.relu
        >>> nn.functional.relu(mt.tensor([-1.0, 2.0]))
        tensor([0., 2.])

The first lines of a file, before any name, run before each of its examples.
"""

from __future__ import annotations

import re
from textwrap import dedent

from mt.workspace import ROOT

FOLDER = ROOT / "docs" / "examples"

_EXAMPLE = re.compile(r"^(\S+)\n((?:[ ].*\n|\n)*)", re.MULTILINE)


def read_examples(stage: str) -> dict[str, str]:
    """Return the examples of a stage, by name; none if it has no file."""
    file = FOLDER / f"{stage}.txt"
    if not file.exists():
        return {}
    text = file.read_text(encoding="utf-8")
    return {name: dedent(code).strip() for name, code in _EXAMPLE.findall(text)}
