"""Every link in a document has a target, and every promise names an existing test."""

import ast
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from mt.workspace import ROOT

PROMISES = ROOT / "docs" / "promises.md"

HIDDEN = {"build", "dist", "node_modules", "runs"}
IN_DOCS = {PROMISES, ROOT / "docs" / "names.md"}
"""Documents that are also read outside of the site; the build of the site checks the others."""

DOCUMENTS = sorted(
    file
    for file in ROOT.rglob("*.md")
    if not any(part in HIDDEN or part[0] == "." for part in file.relative_to(ROOT).parts)
    and (file in IN_DOCS or ROOT / "docs" not in file.parents)
)


@cache
def tokens(document: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(document.read_text(encoding="utf-8"))


def links(parts: list[Token]) -> Iterator[tuple[str, str]]:
    """Yield the text and the target of every link and picture."""
    for part in parts:
        for token, following in pairwise([*(part.children or []), part]):
            if token.type == "link_open":
                yield following.content, str(token.attrGet("href"))
            elif token.type == "image":
                yield token.content, str(token.attrGet("src"))


def anchor(text: str) -> str:
    """Return the anchor of a heading: lower-case words joined by hyphens."""
    kept = "".join(letter for letter in text.lower() if letter.isalnum() or letter in " -_.")
    return "-".join(kept.split())


def anchors(document: Path) -> set[str]:
    """Return the anchors of a document's headings."""
    return {
        anchor(content.content.replace("`", ""))
        for opening, content in pairwise(tokens(document))
        if opening.type == "heading_open"
    }


def promises() -> list[list[Token]]:
    """Return the parts of every item of the page of promises."""
    items: list[list[Token]] = []
    for token in tokens(PROMISES):
        if token.type == "list_item_open":
            items.append([])
        elif token.type == "inline" and token.level > 1:
            items[-1].append(token)
    return items


@cache
def defined(file: Path) -> set[str]:
    """Return the names of the tests of a file."""
    return {
        node.name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_link_has_a_target(document: Path) -> None:
    for text, link in links(tokens(document)):
        if "://" in link:
            continue
        path, _, place = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"[{text}]({link})"
        assert not place or place in anchors(target), f"[{text}]({link})"


@pytest.mark.parametrize(
    "promise", promises(), ids=lambda parts: parts[0].content.partition(".")[0]
)
def test_every_promise_links_to_existing_tests(promise: list[Token]) -> None:
    tests = list(links(promise))
    assert tests, "a promise without a test"
    for name, link in tests:
        assert name in defined((PROMISES.parent / link).resolve()), f"[{name}]({link})"


def test_every_promise_is_a_sentence_followed_by_tests() -> None:
    for parts in promises():
        sentence, _, tests = parts[0].content.partition("[`test_")
        assert len(parts) == 1
        assert sentence.endswith(".\\\n"), "the tests begin a line"
        assert tests.endswith(")")


SHORT = {"mt": "mt_tensor", "nn": "mt_nn", "F": "mt_nn.functional", "Scalar": "mt_autodiff.Scalar"}
"""The abbreviations of the page of names."""


def names_here() -> list[str]:
    """Return the dotted names in the last column of the tables of the page of names."""
    rows = re.findall(r"^\|.*\| (.*) \|$", (ROOT / "docs" / "names.md").read_text(), re.MULTILINE)
    return sorted({name for row in rows for name in re.findall(r"`(\w+(?:\.\w+)+)(?:\(\))?`", row)})


@pytest.mark.parametrize("name", names_here())
def test_every_name_in_the_comparison_of_frameworks_exists(name: str) -> None:
    first, _, rest = name.partition(".")
    assert pkgutil.resolve_name(f"{SHORT.get(first, first)}.{rest}") is not None
