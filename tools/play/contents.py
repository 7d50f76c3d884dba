"""The list of pages: each is one file in `pages/`.

`stageN_NAME.py` is a page of stage N. The first line of its docstring is the title, a colon and a
summary, and its function `show` renders the page. A page is imported when it is opened, so that
other pages do not slow it down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

PAGES = Path(__file__).with_name("pages")


@dataclass(frozen=True)
class PageFile:
    """A page.

    Attributes:
        stage: the number of its stage.
        name: the rest of the file name, which is also in the URL.
        title: its title.
        summary: its summary.
    """

    stage: int
    name: str
    title: str
    summary: str

    def show(self) -> None:
        """Render the page."""
        import_module(f"play.pages.stage{self.stage}_{self.name}").show()


def page_files(folder: Path = PAGES) -> Iterator[PageFile]:
    """Yield the pages, sorted by stage and file name.

    Raises:
        ValueError: a docstring does not start with a title, a colon and a summary.
    """
    for file in sorted(folder.glob("stage[0-9]_*.py")):
        line = file.read_text(encoding="utf-8").partition("\n")[0].strip('"')
        title, _, summary = line.partition(": ")
        if not (title and summary):
            raise ValueError(f"{file.name}: the docstring must start with `Title: a summary.`")
        yield PageFile(int(file.stem[5]), file.stem[7:], title, summary[0].upper() + summary[1:])
