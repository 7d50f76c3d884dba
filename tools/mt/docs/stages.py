"""Pages of ideas, and the directive `added`: what a stage adds to those below.

    ```{added} autodiff
    ```

The pages are written into `docs/ideas` before the build, one for each idea of the map (see
`mt.stages`), with its code in every stage and backend, and links to the chapters that show it.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from griffe import Object
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from mt.docs.links import chapters_of, page_of
from mt.docs.question import folded
from mt.docs.source import modules
from mt.source.symbols import docstring_of
from mt.stages.additions import addition
from mt.stages.ideas import Idea, Theme, read_themes
from mt.workspace import Workspace

TITLES = {
    "simple": "The backend simple",
    "numpy": "The backend numpy",
    **{stage.short: stage.name for stage in Workspace.read().stages.values()},
}


class AddedDirective(SphinxDirective):
    """List what a stage adds."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a folded list of the stage's dependencies, redefined names and new names."""
        added = addition(Workspace.read(), modules(), self.arguments[0])
        lines = [f"- Dependencies: {_codes(added.dependencies) or 'none'}"]
        if added.redefined:
            lines.append(f"- Names that an earlier stage has, too: {_codes(added.redefined)}")
        documented = {name: symbol for name, symbol in added.new.items() if docstring_of(symbol)}
        lines += ["", *map(_line, documented.items())]
        if undocumented := [name for name in added.new if name not in documented]:
            lines += ["", f"Without a docstring of their own: {_codes(undocumented)}."]
        title = f"What {added.stage.name} adds, name by name"
        return [folded(title, *self.parse_text_to_nodes("\n".join(lines)))]


def _codes(names: object) -> str:
    return ", ".join(f"`{name}`" for name in names)  # type: ignore[attr-defined]


def _line(named: tuple[str, Object]) -> str:
    """Return a line of a definition list."""
    name, symbol = named
    return f"`{name}`\n: {docstring_of(symbol).partition(chr(10))[0]}\n"


def write_ideas(app: Sphinx) -> None:
    """Write a page for each idea, and one that lists them."""
    folder = Path(app.srcdir) / "ideas"
    folder.mkdir(exist_ok=True)
    themes = read_themes()
    pages = {"index.md": _overview(themes)}
    for theme in themes:
        for idea in theme.ideas:
            pages[f"{page_of(idea)}.md"] = _page(idea)
    for file in folder.glob("*.md"):
        if file.name not in pages:
            file.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def _overview(themes: list[Theme]) -> str:
    parts = [
        "# One idea in every stage\n\nEach page follows one idea from a loop over floats to a GPU "
        "kernel, in the code that runs.\n"
    ]
    for theme in themes:
        links = "\n\n".join(
            f"[{each.name.capitalize()}]({page_of(each)}.md)\n: {each.text}" for each in theme.ideas
        )
        parts.append(f"## {theme.name}\n\n{theme.text}\n\n{links}\n")
    names = "\n".join(page_of(idea) for theme in themes for idea in theme.ideas)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```\n")
    return "\n".join(parts)


def _page(idea: Idea) -> str:
    parts = [f"# {idea.name.capitalize()}\n\n{idea.text}\n"]
    if idea.questions:
        parts.append("\n".join(f"- {question}" for question in idea.questions) + "\n")
    if chapters := chapters_of(idea):
        links = " · ".join(f"[](/course/{chapter}.md)" for chapter in chapters)
        parts.append(f"In the course: {links}\n")
    for step in idea.steps:
        parts.append(f"## {TITLES[step.column]}\n\n{step.text}\n")
        parts += [f"```{{source}} {name}\n```\n" for name in step.symbols]
    return "\n".join(parts)
