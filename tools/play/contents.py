"""Which pages there are: each is one file below `pages/`, and nothing else knows of it.

`stageN_NAME.py` is a page of stage N. The first line of its docstring is the title, a colon and
what there is to see, and its function `show` puts that on the page. A page is imported when
somebody opens it, so that nobody waits for what the others need.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from mt.workspace import Workspace

PAGES = Path(__file__).with_name("pages")


@dataclass(frozen=True)
class PageFile:
    """A page.

    Attributes:
        stage: the number of its stage.
        name: what comes after that in the name of the file, and in the address of the page.
        title: what it is called.
        summary: what there is to see.
    """

    stage: int
    name: str
    title: str
    summary: str

    def show(self) -> None:
        """Put its content on the page."""
        import_module(f"play.pages.stage{self.stage}_{self.name}").show()


def page_files(folder: Path = PAGES) -> Iterator[PageFile]:
    """Yield the pages by stage, those of one stage by the names of their files.

    Raises:
        ValueError: a docstring does not begin with a title, a colon and a summary.
    """
    for file in sorted(folder.glob("*.py")):
        named = re.fullmatch(r"stage(\d)_(\w+)", file.stem)
        if named is None:
            continue
        title, colon, summary = _first_line(file.read_text(encoding="utf-8")).partition(": ")
        if not (title and colon and summary):
            raise ValueError(
                f"{file.name}: its docstring begins with `Title: what there is to see.`"
            )
        yield PageFile(int(named[1]), named[2], title, summary[0].upper() + summary[1:])


@lru_cache
def _first_line(source: str) -> str:
    """Return the first line of a module's docstring; readers ask again with all that they do."""
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


@lru_cache
def stage_titles() -> tuple[str, ...]:
    """Return what the stages are called, by their numbers."""
    stages = Workspace.read().stages.values()
    return tuple(f"Stage {number} · {stage.name}" for number, stage in enumerate(stages))
