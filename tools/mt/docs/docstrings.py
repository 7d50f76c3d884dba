"""Docstrings as Markdown: sections become definition lists, and names links to their pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from textwrap import dedent

from griffe import Docstring, DocstringSection, DocstringSectionKind

Item = tuple[str, str]
"""An argument, an attribute or an error, and its description."""

LISTS = {
    DocstringSectionKind.parameters: "Arguments",
    DocstringSectionKind.attributes: "Attributes",
    DocstringSectionKind.raises: "Raises",
    DocstringSectionKind.returns: "Returns",
    DocstringSectionKind.yields: "Yields",
}

_INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n?|\n(?= {4}))+")
"""Code within a text."""

_SESSION = re.compile(r"^>>> .*(\n.+)*", re.MULTILINE)
"""A session of Python within a text, up to the next blank line."""

_BLOCK = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)

_STRING = re.compile(r'(`[^`]*`)|"([a-z\d_][\w.-]*|[A-Z]?)"')
"""Code, or a string that is not written as code: a value such as "mean"."""

_NAME = re.compile(r"(?<!\[)`([\w.]+)(?:\(\))?`(?!\])")


def described(docstring: str, page_of: Callable[[str], str], options: Sequence[Item] = ()) -> str:
    """Return a docstring as Markdown.

    Args:
        docstring: the docstring, in Google's style.
        page_of: returns the page of a name in the text; empty if it has none.
        options: further arguments, in place of `**options`; a docstring without a list of arguments
            says itself where they are described.
    """
    sections = Docstring(docstring).parse("google", warnings=False, returns_multiple_items=False)
    items = [(section, list(_items(section))) for section in sections]
    parameters = {name for name, _ in options}
    for section, group in items:
        if section.kind is not DocstringSectionKind.raises:
            parameters.update(part.strip(" *") for name, _ in group for part in name.split(","))
    parts = []
    for section, group in items:
        if section.kind is DocstringSectionKind.parameters and options:
            group[:] = [each for each in group if not each[0].startswith("**")] + [*options]
        parts.append(_section(section, group))
    return linked("\n".join(parts), lambda name: "" if name in parameters else page_of(name))


def attributes_in(docstring: str) -> Iterator[Item]:
    """Yield the attributes that a docstring describes."""
    for section in Docstring(docstring).parse("google", warnings=False):
        if section.kind is DocstringSectionKind.attributes:
            yield from _items(section)


def _items(section: DocstringSection) -> Iterator[Item]:
    """Yield the items of a section that is a list."""
    for item in section.value if section.kind in LISTS else ():
        name = getattr(item, "name", "") or str(getattr(item, "annotation", "") or "")
        if name.endswith(","):  # griffe takes the further names of several for a type
            name += f" {item.annotation}"
        yield name, item.description


def _section(section: DocstringSection, items: Sequence[Item]) -> str:
    """Return a section as Markdown."""
    if section.kind in LISTS:
        return _listed(LISTS[section.kind], items)
    if section.kind is DocstringSectionKind.text:
        return _with_blocks(section.value)
    if section.kind is DocstringSectionKind.examples:
        return _with_blocks("\n".join(text for _, text in section.value))
    return f"{section.title or ''}: {getattr(section.value, 'contents', section.value)}\n"


def _listed(title: str, items: Sequence[Item]) -> str:
    """Return a list of items as Markdown, below its title."""
    parts = [f"**{title}**\n"]
    for name, description in items:
        text = description.replace("\n", "\n  ")
        parts.append(f"{_code(name)}\n: {text}\n" if name else f"{description}\n")
    return "\n".join(parts)


def _code(names: str) -> str:
    """Return names, with commas between them, as code."""
    return ", ".join(f"`{name.strip()}`" for name in names.split(","))


def _with_blocks(text: str) -> str:
    """Return a text in which code is in blocks of its language."""

    def block(found: re.Match[str]) -> str:
        code = dedent(found[0]).strip("\n")
        return f"```{'pycon' if code.startswith('>>>') else 'python'}\n{code}\n```\n"

    parts = _BLOCK.split(_INDENTED.sub(block, text))
    return (
        "".join(part if part[:3] == "```" else _SESSION.sub(block, part) for part in parts) + "\n"
    )


def linked(text: str, page_of: Callable[[str], str]) -> str:
    """Return Markdown in which names are links to their pages, and strings are code."""

    def link(found: re.Match[str]) -> str:
        page = page_of(found[1])
        return f"[{found[0]}](/reference/{page}.md)" if page else found[0]

    def changed(part: str) -> str:
        return _NAME.sub(link, _STRING.sub(lambda found: found[1] or f'`"{found[2]}"`', part))

    return "".join(part if part[:3] == "```" else changed(part) for part in _BLOCK.split(text))
