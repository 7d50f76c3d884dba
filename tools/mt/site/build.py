"""Building the site: all pages of all stages, ideas and modules, into a folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from stages import Stage, Workspace

from mt.concept.maps import read_map
from mt.concept.view import view
from mt.diff.comparison import Comparison, compared
from mt.site import pages
from mt.site.page import Page, framed
from mt.source.public import public_names
from mt.source.symbols import Symbols

STYLE = Path(__file__).with_name("style.css")
MARK = ".made-by-mt-site"
"""A file that says that a folder was made by this, and may be made anew."""


class SiteError(Exception):
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
    found = list(_pages(run))
    concepts = [("Stages and ideas", "index.html"), ("All names", "names.html")]
    for page in found:
        target = folder / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(framed(page, concepts), encoding="utf-8")
    shutil.copyfile(STYLE, folder / "style.css")
    return len(found)


def _empty(folder: Path) -> None:
    """Make a folder, or empty the one that was made before."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / MARK).is_file():
            raise SiteError(f"{folder} holds something else: give a new folder, or an empty one.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()


def _pages(run: bool) -> Iterator[Page]:
    workspace = Workspace.read()
    symbols = Symbols(workspace.library())
    comparisons: list[Comparison] = []
    for before, after in neighbours(workspace):
        comparisons.append(compared(workspace, symbols, before, after, run=run))
        yield pages.diff_page(comparisons[-1])
    concepts = list(read_map().values())
    for concept in concepts:
        yield pages.concept_page(view(concept, symbols, run=run))
    packages = list(symbols.library.folders)
    summaries = {package: symbols.find(package).summary for package in packages}
    yield pages.first_page(comparisons, concepts, summaries)
    yield pages.names_page({package: public_names(symbols, package) for package in packages})
    for package in packages:
        yield from pages.sources(symbols.library.modules(package))
