"""Building the site: all pages of all stages, ideas and modules, into a folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from mt.concept.maps import Concept, read_map
from mt.concept.view import ConceptView, view
from mt.diff.comparison import Comparison, compared
from mt.errors import ToolError
from mt.site.pages import concept_path, diff_path, rendered, source_path
from mt.source.public import public_names
from mt.source.symbols import Symbols
from mt.workspace import Stage, Workspace

STYLE = Path(__file__).with_name("style.css")
MARK = ".made-by-mt-site"
"""A file that says that a folder was made by this, and may be made anew."""


class SiteError(ToolError):
    """The site cannot be built where it was asked for."""


def neighbours(workspace: Workspace) -> Iterator[tuple[Stage, Stage]]:
    """Yield each stage but the first, behind the last one that it needs."""
    for stage in workspace.stages.values():
        needed = workspace.upstream(stage)[:-1]
        if needed:
            yield needed[-1], stage


def build(folder: Path, *, run: bool = True) -> int:
    """Build the site, and return how many pages it has.

    Args:
        folder: where; it is made, or made anew if it was made by this.
        run: whether experiments and inputs are run.

    Raises:
        SiteError: the folder holds something else.
    """
    _empty(folder)
    count = 0
    for path, text in _pages(run):
        count += 1
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    shutil.copyfile(STYLE, folder / "style.css")
    return count


def _empty(folder: Path) -> None:
    """Make a folder, or empty the one that was made before."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / MARK).is_file():
            raise SiteError(f"{folder} holds something else: give a new folder, or an empty one.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()


def _pages(run: bool) -> Iterator[tuple[str, str]]:
    """Yield path and text of each page."""
    workspace = Workspace.read()
    symbols = Symbols(workspace.library())
    concepts = list(read_map().values())
    yield _index(workspace, symbols, concepts)
    for before, after in neighbours(workspace):
        yield _diff(compared(workspace, symbols, before, after, run=run))
    for concept in concepts:
        yield _concept(view(concept, symbols, run=run))
    packages = {name: public_names(symbols, name) for name in symbols.library.folders}
    yield "names.html", rendered("names.html", "names.html", "All names", packages=packages)
    for package in packages:
        for module in symbols.library.modules(package):
            path = source_path(module)
            yield path, rendered("source.html", path, module.name, module=module)


def _index(workspace: Workspace, symbols: Symbols, concepts: list[Concept]) -> tuple[str, str]:
    before = {after.name: before for before, after in neighbours(workspace)}
    stages = [
        (stage, before.get(stage.name), symbols.find(stage.import_name).summary)
        for stage in workspace.stages.values()
    ]
    shown = {"stages": stages, "concepts": concepts}
    return "index.html", rendered("index.html", "index.html", "A framework in stages", **shown)


def _diff(comparison: Comparison) -> tuple[str, str]:
    before, after = comparison.before, comparison.after
    path, title = diff_path(before, after), f"What {after.name} adds to {before.name}"
    shown = {"comparison": comparison, "before": before, "after": after}
    return path, rendered("diff.html", path, title, **shown)


def _concept(view: ConceptView) -> tuple[str, str]:
    path, name = concept_path(view.concept), view.concept.name
    return path, rendered("concept.html", path, name[0].upper() + name[1:], view=view)
