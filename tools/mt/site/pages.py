"""Render pages: paths, templates, and filters that convert text to HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from mt.concept.maps import Concept
from mt.site.code import documented, listing, place, plain_lines, source_path, summary
from mt.site.grouping import described, length, within
from mt.workspace import Stage

TEMPLATES = Path(__file__).with_name("templates")
PLACES = (
    ("A framework in stages", "index.html"),
    ("Ideas", "index.html#ideas"),
    ("Questions", "index.html#questions"),
    ("Names", "names.html"),
)
"""The navigation of every page: titles, and paths of pages or sections."""


def rendered(template: str, path: str, title: str, **values: Any) -> str:
    """Return a page.

    Args:
        template: the file in `templates`.
        path: the path of the page below the site's folder.
        title: its title.
        **values: the variables of the template.
    """
    up = "../" * path.count("/")
    shared = {"title": title, "here": path, "up": up, "places": PLACES}
    return _environment().get_template(template).render(**shared, **values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "anchor": anchor,
        "breakable": breakable,
        "concept_path": concept_path,
        "described": described,
        "diff_path": diff_path,
        "difference": difference,
        "documented": documented,
        "length": length,
        "listing": listing,
        "marked": marked,
        "paragraphs": paragraphs,
        "path": source_path,
        "place": place,
        "python": python,
        "stage_path": stage_path,
        "summary": summary,
        "titled": titled,
        "within": within,
    }
    return environment


# --- Paths of pages -----------------------------------------------------------------------------


def stage_path(stage: Stage) -> str:
    """Return the path of the page of a stage."""
    return f"stage-{stage.short}.html"


def diff_path(before: Stage, after: Stage) -> str:
    """Return the path of the comparison of two stages."""
    return f"diff-{before.short}-{after.short}.html"


def concept_path(concept: Concept) -> str:
    """Return the path of the page of a concept."""
    return f"concept-{anchor(concept.name)}.html"


def anchor(text: str) -> str:
    """Return the anchor of a heading: lower-case words joined by hyphens."""
    kept = "".join(letter for letter in text.lower() if letter.isalnum() or letter in " -_.")
    return "-".join(kept.split())


# --- Text and code as HTML ----------------------------------------------------------------------


def titled(text: str) -> str:
    """Return a text with an initial capital letter."""
    return text[:1].upper() + text[1:]


def marked(text: str) -> Markup:
    """Return plain text as HTML, with text in backquotes as code."""
    pieces = [escape(piece) for piece in text.split("`")]
    pieces[1::2] = [Markup("<code>{}</code>").format(piece) for piece in pieces[1::2]]
    return Markup("").join(pieces)


def paragraphs(text: str) -> Markup:
    """Return plain text as HTML; blank lines separate paragraphs, and indented ones are code."""
    return Markup("\n").join(
        python(textwrap.dedent(part))
        if part.startswith("    ")
        else Markup("<p>{}</p>").format(marked(" ".join(part.split())))
        for part in text.split("\n\n")
    )


def breakable(name: str) -> Markup:
    """Return a dotted name that can be wrapped after its dots."""
    return Markup(".<wbr>").join(name.split("."))


def python(text: str) -> Markup:
    """Return highlighted Python code."""
    return listing(plain_lines(text))


def difference(lines: Iterable[str]) -> Markup:
    """Return the lines of a diff as HTML, marked as removed, added or unchanged."""
    tags = {"-": "del", "+": "ins"}
    rows = (
        Markup("<{0}>{1}\n</{0}>").format(Markup(tags.get(line[:1], "span")), line)
        for line in lines
    )
    return Markup('<pre class="code"><code>{}</code></pre>').format(Markup("").join(rows))
