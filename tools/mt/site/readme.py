"""A README as part of a page, whose links lead to other pages where these show the same."""

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
"""The folder of the site that holds the pictures."""


@dataclass(frozen=True)
class Readme:
    """What a README comes to.

    Attributes:
        lead: its first paragraph, which says what the package is.
        html: all the rest but the title.
        headings: the anchor and the text of those below the title.
        images: by their paths in the site, the files that it shows.
    """

    lead: Markup
    html: Markup
    headings: tuple[tuple[str, str], ...]
    images: Mapping[str, Path]


def readme(file: Path, pages: Mapping[Path, str]) -> Readme:
    """Return a README as HTML.

    Args:
        file: where it is.
        pages: the paths of the pages that show files; a link to any other file is only text.
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
    """Return the place behind the title, which the page has already."""
    return next((n for n, token in enumerate(tokens) if token.type == "heading_close"), -1) + 1


def _after_lead(tokens: list[Token]) -> int:
    """Return the place behind the first paragraph, if there is one before anything else."""
    if not tokens or tokens[0].type != "paragraph_open":
        return 0
    tokens[0].attrSet("class", "lead")
    return next(n for n, token in enumerate(tokens) if token.type == "paragraph_close") + 1


def _followed(inner: list[Token], file: Path, pages: Mapping[Path, str]) -> Iterator[Token]:
    """Yield what stands in a line, with links that lead to pages or outside, and no others."""
    leads = True
    for token in inner:
        if token.type == "link_open":
            target = _target(str(token.attrGet("href")), file, pages)
            leads = bool(target)
            token.attrSet("href", target)
        if leads or token.type not in ("link_open", "link_close"):
            yield token


def _target(link: str, file: Path, pages: Mapping[Path, str]) -> str:
    """Return where a link of a README leads in the site; nothing if it has no such page."""
    path, sign, part = link.partition("#")
    if not path or "://" in path:
        return link
    page = pages.get((file.parent / path).resolve(), "")
    return page and page + sign + part


class _Renderer(RendererHTML):
    """Lays out code and tables as the other pages do."""

    def fence(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        """Return a block of code."""
        token = tokens[idx]
        if token.info == "python":
            return str(listing(plain_lines(token.content)))
        return Markup('<pre class="code"><code>{}</code></pre>\n').format(token.content)

    def table_open(self, *_: Any) -> str:
        """Begin a table, which scrolls by itself where it is wider than the screen."""
        return '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>\n'

    def table_close(self, *_: Any) -> str:
        """End a table."""
        return "</table></div>\n"

    def th_open(self, *_: Any) -> str:
        """Begin the title of a column."""
        return '<th scope="col">'
