"""Links between the chapters of the course and the ideas, derived from the code that both show.

A chapter belongs to an idea if it shows code that the idea names, or links to the idea's page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from mt.stages.ideas import Idea, read_themes
from mt.workspace import ROOT

COURSE = ROOT / "docs" / "course"
_SHOWN = re.compile(r"^```\{source\} (\S+)", re.MULTILINE)
_TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)


def page_of(idea: Idea) -> str:
    """Return the name of the page of an idea, below `ideas`."""
    return idea.name.replace(" ", "-")


def ideas_of(name: str) -> list[Idea]:
    """Return the ideas that name a definition, or the class that it is a member of."""
    return [idea for theme in read_themes() for idea in theme.ideas if _has(idea, name)]


def chapters_of(idea: Idea) -> list[str]:
    """Return the names of the chapters of an idea, in reading order."""
    link = f"/ideas/{page_of(idea)}.md"
    return [
        chapter
        for chapter, text in _chapters().items()
        if link in text or any(_has(idea, name) for name in _SHOWN.findall(text))
    ]


def _has(idea: Idea, name: str) -> bool:
    named = (symbol for step in idea.steps for symbol in step.symbols)
    return any(name == each or name.startswith(f"{each}.") for each in named)


@cache
def _chapters() -> dict[str, str]:
    """Return the texts of the chapters by name, such as `tensor/storage`."""
    stages = (stage.removesuffix("/index") for stage in _listed("index"))
    names = [f"{stage}/{name}" for stage in stages for name in _listed(f"{stage}/index")]
    return {name: (COURSE / f"{name}.md").read_text(encoding="utf-8") for name in names}


def _listed(page: str) -> Iterator[str]:
    """Yield the entries of the table of contents in a page."""
    found = _TOCTREE.search((COURSE / f"{page}.md").read_text(encoding="utf-8"))
    lines = found[1].splitlines() if found else []
    return (line for line in lines if line and not line.startswith(":"))
