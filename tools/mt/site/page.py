"""What all pages share: the frame, links, code in colours, tables. No script, nothing from outside.

Pages lie in one folder, sources in a folder `source` below it; `up` is the way from a page to the
first of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import DiffLexer, PythonLexer

from mt.source.modules import Module
from mt.source.symbols import Symbol


@dataclass(frozen=True)
class Page:
    """One page of the site.

    Attributes:
        path: where it lies below the site's folder, as in `concept-sum.html`.
        title: what it is called.
        body: its content, as HTML.
    """

    path: str
    title: str
    body: str

    @property
    def up(self) -> str:
        """The way to the site's folder."""
        return "../" * self.path.count("/")


def framed(page: Page, places: Sequence[tuple[str, str]]) -> str:
    """Return a whole page.

    Args:
        page: what is on it.
        places: title and path of the pages that every page leads to.
    """
    links = "\n".join(
        f'<a href="{page.up}{path}"{current(page.path == path)}>{escape(title)}</a>'
        for title, path in places
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(page.title)}</title>
<link rel="stylesheet" href="{page.up}style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Site">
{links}
</nav>
<main id="content">
<h1>{escape(page.title)}</h1>
{page.body}
</main>
</body>
</html>
"""


def current(is_here: bool) -> str:
    """Return the attribute that marks the page one is on."""
    return ' aria-current="page"' if is_here else ""


def link(symbol: Symbol, text: str | None = None, up: str = "") -> str:
    """Return a link to where a symbol is defined."""
    return f'<a href="{up}{source_path(symbol.module)}#{anchor(symbol)}"><code>{escape(text or symbol.name)}</code></a>'


def source_path(module: Module) -> str:
    """Return the path of the page that shows a module."""
    return f"source/{module.name}.html"


def anchor(symbol: Symbol) -> str:
    """Return what follows the # in a link to a symbol: the line on which it begins."""
    return f"L{symbol.lines[0]}"


def paragraphs(text: str) -> str:
    """Return paragraphs of plain text, in which backquotes mark code."""
    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    return "\n".join(f"<p>{marked(part)}</p>" for part in parts)


def marked(text: str) -> str:
    """Return plain text as HTML, with what stands in backquotes as code."""
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces)
    )


def python(text: str) -> str:
    """Return a piece of Python in colours."""
    return str(highlight(text, PythonLexer(), HtmlFormatter(cssclass="code")))


def difference(lines: Iterable[str]) -> str:
    """Return the lines of a diff in colours."""
    return str(highlight("\n".join(lines), DiffLexer(), HtmlFormatter(cssclass="code")))


def numbered(text: str) -> str:
    """Return a whole file in colours, each line with its number and an anchor."""
    formatter = HtmlFormatter(
        cssclass="code", linenos="inline", lineanchors="L", anchorlinenos=True, wrapcode=True
    )
    # Pygments writes anchors as L-12; links here say L12.
    return str(highlight(text, PythonLexer(stripnl=False), formatter)).replace("L-", "L")


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table; its cells are HTML."""
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption) or "Table"}">'
        f"<table>{title}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def folded(title: str, content: str, is_open: bool = False) -> str:
    """Return what can be opened and closed; the title is HTML."""
    return f"<details{' open' if is_open else ''}><summary>{title}</summary>\n{content}</details>"
