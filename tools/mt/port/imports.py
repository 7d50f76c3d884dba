"""A program's import lines with other names: what was torch's is then that of the mirror.

A line keeps its form and binds the same names; nothing else of the program changes. It is read as
text, so that neither torch nor what else it needs has to be installed.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from mt.errors import ToolError
from mt.source.editing import Edit, Text, edited

MIRROR = "mt_nn.torch_names"

_FROM = re.compile(r"from[ \t]+(torch)\b")


def read(file: Path) -> tuple[str, ast.Module]:
    """Return a program and its syntax tree.

    Raises:
        ToolError: it is no Python; says where.
    """
    try:
        text = file.read_bytes().decode()  # its line ends are kept
        return text, ast.parse(text)
    except (SyntaxError, ValueError) as error:  # of which a wrong encoding is one
        raise ToolError(f"{file} is no Python that can be read: {error}") from error


def ported(text: str, tree: ast.Module) -> str:
    """Return a program whose import lines name the mirror where they named torch."""
    place = Text(text)
    return edited(text, (edit for node in ast.walk(tree) for edit in _edits(node, place)))


def difference(file: Path) -> str:
    """Return what changes in a program, as a patch."""
    text, tree = read(file)
    before, after = text.splitlines(keepends=True), ported(text, tree).splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, file.name, file.name, n=0))


def is_torchs(module: str | None) -> bool:
    """Whether a dotted name is that of torch or of a module in it."""
    return module is not None and module.partition(".")[0] == "torch"


def _edits(node: ast.AST, place: Text) -> Iterator[Edit]:
    """Yield what changes in a statement: nothing, unless it imports from torch."""
    if isinstance(node, ast.ImportFrom) and node.level == 0 and is_torchs(node.module):
        match = _FROM.match(place.text, place.start_of(node))
        if match is None:
            raise ToolError(f"line {node.lineno} goes on in the next before it names torch.")
        yield Edit(*match.span(1), MIRROR)
    if isinstance(node, ast.Import):
        for name in node.names:
            if is_torchs(name.name):
                # `import torch.nn` binds torch, of which the mirror imports all when it is asked.
                module = name.name.replace("torch", MIRROR, 1) if name.asname else MIRROR
                text = f"{module} as {name.asname or 'torch'}"
                yield Edit(place.start_of(name), place.end_of(name), text)
