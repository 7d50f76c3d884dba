"""The directive `source`: a piece of the stages' code, by its qualified name.

    ```{source} mt_autodiff.core.scalar.Scalar.backward
    ```

The code is read from the file, so that a page shows what runs; a name that does not exist fails the
build. A row of the operator table is `mt_operators.core.table[tanh]`. In the course, code has links
to the ideas that name it.

Options:
    folded: show only a line that unfolds it.
    docstring: keep docstrings, which are left out otherwise, because the page explains the code.
    only: the members of a class to show; the others become an ellipsis.
"""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from griffe import ModulesCollection
from sphinx.util.docutils import SphinxDirective

from mt.docs.links import ideas_of, page_of
from mt.docs.question import folded
from mt.source.symbols import UnknownSymbolError, file_of, find, load
from mt.stages.excerpts import excerpt
from mt.workspace import Workspace


def modules() -> ModulesCollection:
    """Return the source of the stages of this repository."""
    return load(*Workspace.read().sources)


class SourceDirective(SphinxDirective):
    """Show the source of a definition."""

    required_arguments = 1
    option_spec: ClassVar = {
        "docstring": directives.flag,
        "folded": directives.flag,
        "only": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the code below the path of its file."""
        name = self.arguments[0]
        try:
            symbol = find(modules(), name)
        except UnknownSymbolError as error:
            raise self.error(str(error)) from error
        self.env.note_dependency(str(file_of(symbol)))
        only = self.options.get("only", "").replace(",", " ").split()
        code = excerpt(symbol, "docstring" in self.options, only)
        listing = nodes.literal_block(code, code, language="python", classes=["source"])
        file = symbol.module.path.replace(".", "/") + ".py"
        owner = symbol.parent
        if owner is not None and owner.is_class:
            file += f" · class {owner.name}"
        origin = nodes.caption("", file, *self._ideas(name))
        shown = nodes.container("", origin, listing, literal_block=True, classes=["excerpt"])
        return [folded("Source", shown) if "folded" in self.options else shown]

    def _ideas(self, name: str) -> list[nodes.Node]:
        """Return links to the ideas of a definition which its chapter has not linked to so far."""
        if not self.env.docname.startswith("course/"):
            return []
        linked = self.env.temp_data.get("ideas") or set()
        new = [idea for idea in ideas_of(name) if idea.name not in linked]
        self.env.temp_data["ideas"] = linked | {idea.name for idea in new}
        if not new:
            return []
        links = ", ".join(f"[{idea.name}](/ideas/{page_of(idea)}.md)" for idea in new)
        parsed, _ = self.parse_inline(f"In every stage: {links}")
        return [nodes.inline("", "", *parsed)]
