"""Change the imports of a program from torch to the module that mirrors its names.

Each import keeps its form and binds the same names; the rest of the program stays the same. It is
parsed as text, so neither torch nor its other dependencies need to be installed. The layers of
einops for torch are modules of torch, and so are replaced, too.
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
EINOPS, EINOPS_LAYERS = "einops.layers.torch", "mt_nn.layers.einops"

_FROM = re.compile(r"from[ \t]+(torch|einops\.layers\.torch)\b")


def read(file: Path) -> tuple[str, ast.Module]:
    """Return a program and its syntax tree.

    Raises:
        ToolError: it is not valid Python; the message says where.
    """
    try:
        text = file.read_bytes().decode()  # keeps line endings
        return text, ast.parse(text)
    except (SyntaxError, ValueError) as error:  # ValueError for a wrong encoding
        raise ToolError(f"{file} is not readable as Python: {error}") from error


def ported(text: str, tree: ast.Module) -> str:
    """Return a program whose imports from torch are from the mirror instead."""
    place = Text(text)
    return edited(text, (edit for node in ast.walk(tree) for edit in _edits(node, place)))


def difference(file: Path) -> str:
    """Return the changes of a program as a patch."""
    text, tree = read(file)
    before, after = text.splitlines(keepends=True), ported(text, tree).splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, file.name, file.name, n=0))


def is_torchs(module: str | None) -> bool:
    """Return whether a dotted name is torch or a module in it."""
    return module is not None and module.partition(".")[0] == "torch"


def _edits(node: ast.AST, place: Text) -> Iterator[Edit]:
    """Yield the changes of a statement, if it imports from torch."""
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        if not (is_torchs(node.module) or node.module == EINOPS):
            return
        match = _FROM.match(place.text, place.start_of(node))
        if match is None:
            raise ToolError(f"line {node.lineno}: `from` and `torch` must be on the same line.")
        yield Edit(*match.span(1), EINOPS_LAYERS if node.module == EINOPS else MIRROR)
    if isinstance(node, ast.Import):
        for name in node.names:
            if name.name == EINOPS and name.asname:
                yield Edit(
                    place.start_of(name), place.end_of(name), f"{EINOPS_LAYERS} as {name.asname}"
                )
            if is_torchs(name.name):
                # `import torch.nn` binds torch; the mirror imports its modules on demand.
                module = name.name.replace("torch", MIRROR, 1) if name.asname else MIRROR
                text = f"{module} as {name.asname or 'torch'}"
                yield Edit(place.start_of(name), place.end_of(name), text)
