"""The directive `source`: a piece of the stages' code, by its qualified name.

    ```{source} mt_autodiff.core.scalar.Scalar.backward
    ```

The code is read from the file, so that a page shows what runs; a name that does not exist fails the
build. A row of the operator table is `mt_operators.core.table[tanh]`.

Options:
    docstring: keep docstrings, which are left out otherwise, because the page explains the code.
    only: the members of a class to show; the others become an ellipsis.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from mt.source.modules import Definition, documentation, lines_of
from mt.source.symbols import Symbol, Symbols, UnknownSymbolError
from mt.workspace import Workspace


@cache
def symbols() -> Symbols:
    """Return the lookup of names in the stages of this repository."""
    return Symbols(Workspace.read().library())


class SourceDirective(SphinxDirective):
    """Show the source of a definition."""

    required_arguments = 1
    option_spec: ClassVar = {
        "docstring": directives.flag,
        "only": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the code below the path of its file."""
        name = self.arguments[0]
        try:
            symbol = symbols().find(name)
        except UnknownSymbolError as error:
            raise self.error(str(error)) from error
        self.env.note_dependency(str(symbol.module.file))
        only = self.options.get("only", "").replace(",", " ").split()
        code = excerpt(symbol, "docstring" in self.options, only)
        listing = nodes.literal_block(code, code, language="python", classes=["source"])
        origin = nodes.caption("", symbol.module.name.replace(".", "/") + ".py")
        return [nodes.container("", origin, listing, literal_block=True, classes=["excerpt"])]


def excerpt(symbol: Symbol, docstring: bool = False, only: list[str] | None = None) -> str:
    """Return the source of a definition, dedented.

    Args:
        symbol: the definition.
        docstring: whether to keep docstrings.
        only: the members of a class to show; others are replaced by `...`.
    """
    first, last = symbol.lines
    lines = symbol.module.text.splitlines()
    kept: dict[int, str] = {number: lines[number - 1] for number in range(first, last + 1)}
    if only and isinstance(symbol.node, ast.ClassDef):
        _keep_only(kept, symbol.node, only)
    if not docstring:
        _drop_docstrings(kept, symbol.node)
    text = list(kept.values())
    indent = len(text[0]) - len(text[0].lstrip())
    while text and not text[-1].strip():
        text.pop()
    return "\n".join(line[indent:] for line in text)


def _drop_docstrings(kept: dict[int, str], tree: ast.AST) -> None:
    """Remove docstrings, and the blank line after each."""
    for node in ast.walk(tree):
        if not isinstance(node, Definition) or not documentation(node.body[0]):
            continue
        start, end = lines_of(node.body[0])
        if len(node.body) == 1:
            continue
        for number in range(start, end + 1):
            kept.pop(number, None)
        if not kept.get(end + 1, "text").strip():
            kept.pop(end + 1)


def _keep_only(kept: dict[int, str], tree: ast.ClassDef, only: list[str]) -> None:
    """Replace the members of a class that are not wanted by an ellipsis.

    Raises:
        ValueError: a member does not exist.
    """
    members = {node.name: node for node in tree.body if isinstance(node, Definition)}
    missing = [name for name in only if name not in members]
    if missing:
        raise ValueError(f"{tree.name} has no {', '.join(missing)}; it has {', '.join(members)}.")
    wanted = {number for name in only for number in _span(members[name])}
    start = lines_of(tree.body[0])[0]
    indent = " " * tree.body[0].col_offset
    skipping = False
    for number in [number for number in kept if number >= start]:
        if number in wanted:
            skipping = False
        elif skipping or not kept[number].strip():
            kept.pop(number)
        else:
            kept[number] = f"{indent}..."
            skipping = True


def _span(node: ast.stmt) -> range:
    first, last = lines_of(node)
    return range(first, last + 1)
