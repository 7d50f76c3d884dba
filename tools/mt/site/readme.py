"""A README as part of a page, with links to the site's pages for the same files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from mt.site.code import listing, plain_lines
from mt.site.pages import anchor

IMAGES = "images"
"""The folder of the site for images."""


@dataclass(frozen=True)
class Readme:
    """A README as HTML.

    Attributes:
        lead: its first paragraph.
        html: the rest, without the title.
        headings: anchor and text of the other headings.
        images: the image files it shows, by their paths in the site.
    """

    lead: Markup
    html: Markup
    headings: tuple[tuple[str, str], ...]
    images: Mapping[str, Path]


def readme(file: Path, pages: Mapping[Path, str]) -> Readme:
    """Convert a README to HTML.

    Args:
        file: the README.
        pages: the paths of the pages of files; links to other files become plain text.
    """
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    tokens = markdown.parse(file.read_text(encoding="utf-8"))
    tokens = tokens[_after_title(tokens) :]
    headings = []
    images: dict[str, Path] = {}
    for opening, content in itertools.pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", anchor(content.content.replace("`", "")))
            headings.append((str(opening.attrGet("id")), content.content))
    for token in tokens:
        inner = token.children or []
        token.children = list(_followed(inner, file, pages))
        for image in inner:
            if image.type == "image":
                shown = file.parent / str(image.attrGet("src"))
                path = f"{IMAGES}/{file.parent.name}-{shown.name}"
                image.attrSet("src", path)
                images[path] = shown
    rest = _after_lead(tokens)
    lead, html = (
        Markup(markdown.renderer.render(part, markdown.options, {}))
        for part in (tokens[:rest], tokens[rest:])
    )
    return Readme(lead, html, tuple(headings), images)


def _after_title(tokens: list[Token]) -> int:
    """Return the index after the title, which the page already has."""
    return next((n for n, token in enumerate(tokens) if token.type == "heading_close"), -1) + 1


def _after_lead(tokens: list[Token]) -> int:
    """Return the index after the first paragraph, if the text starts with one."""
    if not tokens or tokens[0].type != "paragraph_open":
        return 0
    tokens[0].attrSet("class", "lead")
    return next(n for n, token in enumerate(tokens) if token.type == "paragraph_close") + 1


def _followed(inner: list[Token], file: Path, pages: Mapping[Path, str]) -> Iterator[Token]:
    """Yield the tokens of a line, without links to files that have no page."""
    leads = True
    for token in inner:
        if token.type == "link_open":
            target = _target(str(token.attrGet("href")), file, pages)
            leads = bool(target)
            token.attrSet("href", target)
        if leads or token.type not in ("link_open", "link_close"):
            yield token


def _target(link: str, file: Path, pages: Mapping[Path, str]) -> str:
    """Return the target of a link in the site; empty if it has no page."""
    path, sign, part = link.partition("#")
    if not path or "://" in path:
        return link
    page = pages.get((file.parent / path).resolve(), "")
    return page and page + sign + part


class _Renderer(RendererHTML):
    """Render code and tables as on the other pages."""

    def fence(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        """Return a block of code."""
        token = tokens[idx]
        if token.info == "python":
            return str(listing(plain_lines(token.content)))
        return Markup('<pre class="code"><code>{}</code></pre>\n').format(token.content)

    def table_open(self, *_: Any) -> str:
        """Begin a table, which scrolls separately if it is wider than the screen."""
        return '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>\n'

    def table_close(self, *_: Any) -> str:
        """End a table."""
        return "</table></div>\n"

    def th_open(self, *_: Any) -> str:
        """Begin a column header."""
        return '<th scope="col">'
