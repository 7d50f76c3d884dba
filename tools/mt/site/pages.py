"""Turning what is known into pages: the templates, and how text, code and links become HTML."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import DiffLexer, PythonLexer

from mt.concept.maps import Concept
from mt.source.modules import Module
from mt.workspace import Stage

TEMPLATES = Path(__file__).with_name("templates")
PLACES = (("Stages and ideas", "index.html"), ("All names", "names.html"))
"""Title and path of the pages to which every page leads."""


def rendered(template: str, path: str, title: str, **values: Any) -> str:
    """Return a page.

    Args:
        template: the file below `templates` that lays it out.
        path: where the page lies, below the site's folder.
        title: what it is called.
        **values: what the template shows.
    """
    up = "../" * path.count("/")
    shared = {"title": title, "here": path, "up": up, "places": PLACES}
    return _environment().get_template(template).render(**shared, **values)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "concept_path": concept_path,
        "diff_path": diff_path,
        "difference": difference,
        "folded": folded,
        "marked": marked,
        "numbered": numbered,
        "paragraphs": paragraphs,
        "path": source_path,
        "python": python,
    }
    return environment


# --- Where pages lie ----------------------------------------------------------------------------


def diff_path(before: Stage, after: Stage) -> str:
    """Return the path of the page on what a stage adds to another."""
    return f"diff-{before.short}-{after.short}.html"


def concept_path(concept: Concept) -> str:
    """Return the path of the page of a concept."""
    return f"concept-{concept.name.replace(' ', '-')}.html"


def source_path(module: Module) -> str:
    """Return the path of the page that shows a module; its lines are at #L1, #L2, ..."""
    return f"source/{module.name}.html"


# --- Text and code as HTML ----------------------------------------------------------------------


def marked(text: str) -> Markup:
    """Return plain text as HTML, with what stands in backquotes as code."""
    pieces = [escape(piece) for piece in text.split("`")]
    pieces[1::2] = [Markup("<code>{}</code>").format(piece) for piece in pieces[1::2]]
    return Markup("").join(pieces)


def paragraphs(text: str) -> Markup:
    """Return plain text whose paragraphs are set apart by empty lines."""
    parts = (" ".join(part.split()) for part in text.split("\n\n"))
    return Markup("\n").join(Markup("<p>{}</p>").format(marked(part)) for part in parts)


def python(text: str) -> Markup:
    """Return a piece of Python in colours."""
    return Markup(highlight(text, PythonLexer(), HtmlFormatter(cssclass="code")))


def folded(text: str, title: str) -> Markup:
    """Return a piece of Python that is opened by a click on its title."""
    return Markup("<details><summary>{}</summary>\n{}</details>").format(title, python(text))


def difference(lines: Iterable[str]) -> Markup:
    """Return the lines of a diff in colours."""
    return Markup(highlight("\n".join(lines), DiffLexer(), HtmlFormatter(cssclass="code")))


def numbered(text: str) -> Markup:
    """Return a whole file in colours, each line with its number and an anchor."""
    formatter = HtmlFormatter(
        cssclass="code", linenos="inline", linespans="L", lineanchors="", wrapcode=True
    )
    found: str = highlight(text, PythonLexer(stripnl=False), formatter)
    return Markup(found.replace('id="L-', 'id="L'))
