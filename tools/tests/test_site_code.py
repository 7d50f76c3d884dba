"""Code on pages: highlighted, linked, and abridged."""

import re
from pathlib import Path

import pytest

from mt.site.code import Line, Listings, documented, listing, plain_lines
from mt.site.grouping import by_letter, outline
from mt.site.pages import breakable, difference, marked, paragraphs
from mt.source.modules import Library
from mt.source.symbols import Symbols

TEXT = '''
"""Below."""
import p


def share(x):
    """Return a share.

    Args:
        x: less than `1` & more.
    """

    if x < 1:
        return "<b>"
    return share(x)


class Tree:
    """A tree."""

    def grow(self):
        """Grow by one.

        More of it.
        """
        return p.low.share(1)


LIMIT = 3
"""How much."""


def silent():
    pass


def short(): """Do nothing."""
'''


@pytest.fixture
def symbols(tmp_path: Path) -> Symbols:
    (tmp_path / "__init__.py").touch()
    (tmp_path / "low.py").write_text(TEXT)
    return Symbols(Library({"p": tmp_path}))


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(piece.text for piece in line) for line in lines)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("share", 'def share(x):\n    if x < 1:\n        return "<b>"\n    return share(x)'),
        (
            "Tree",
            'class Tree:\n    def grow(self):\n        """Grow by one. …"""\n'
            "        return p.low.share(1)",
        ),
        ("Tree.grow", "def grow(self):\n    return p.low.share(1)"),
        ("LIMIT", "LIMIT = 3"),
        ("silent", "def silent():\n    pass"),
        ("short", 'def short(): """Do nothing."""'),
    ],
)
def test_an_excerpt_is_code_without_its_docstring(
    symbols: Symbols, name: str, expected: str
) -> None:
    assert text_of(Listings(symbols).excerpt(symbols.find(f"p.low.{name}"))) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("share", ("Return a share.", "Args:\n    x: less than `1` & more.")),
        ("Tree", ("A tree.", "")),
        ("LIMIT", ("How much.", "")),
        ("silent", ("", "")),
    ],
)
def test_documentation_of_a_symbol_is_separate(
    symbols: Symbols, name: str, expected: tuple[str, str]
) -> None:
    assert documented(symbols.find(f"p.low.{name}")) == expected


def test_names_in_code_are_links(symbols: Symbols) -> None:
    listings = Listings(symbols)
    html = listing(listings.excerpt(symbols.find("p.low.Tree")), "../")
    assert '<a href="../source/p.low.html#L6">share</a>' in html
    assert '<a href="../source/p.html#L1">p</a>' in html


def test_lines_are_escaped_numbered_and_hang_below_their_beginning() -> None:
    html = listing(plain_lines('if a < b:\n    x = "<b>"\n'), numbered=True)
    assert html == (
        '<pre class="code numbered"><code>'
        '<span id="L1"><span class="k">if</span> a &lt; b:\n</span>'
        '<span id="L2" class="i1">    x = <span class="s">&#34;&lt;b&gt;&#34;</span>\n</span>'
        "</code></pre>"
    )


@pytest.mark.parametrize("text", ["", "\n\nx = 1\n\n", "# ein Maß\n", "x = '''\n    a\n\n'''\n"])
def test_no_character_of_a_text_is_lost(text: str) -> None:
    assert text_of(plain_lines(text)).rstrip("\n") == text.rstrip("\n")


def test_a_diff_lists_added_and_removed_lines() -> None:
    html = difference([" def f():", "-    a<b", "+    c"])
    assert re.findall(r"<(\w+)>(.*)\n</\1>", html) == [
        ("span", " def f():"),
        ("del", "-    a&lt;b"),
        ("ins", "+    c"),
    ]


def test_paragraphs_of_a_text_that_are_indented_are_code() -> None:
    assert paragraphs("One\nline.\n\n    x = 1\n        y\n\nTwo.") == (
        "<p>One line.</p>\n"
        '<pre class="code"><code><span>x = <span class="m">1</span>\n</span>'
        '<span class="i1">    y\n</span></code></pre>\n'
        "<p>Two.</p>"
    )


def test_text_is_escaped_inside_and_outside_of_code() -> None:
    assert marked("a < `b < c` > d") == "a &lt; <code>b &lt; c</code> &gt; d"
    assert breakable("a.b<c") == "a.<wbr>b&lt;c"


def test_an_outline_has_methods_below_their_class(symbols: Symbols) -> None:
    entries = outline(symbols.find("p.low").module)
    assert [entry.name for entry in entries] == ["share", "Tree", "silent", "short"]
    assert [(each.name, each.line) for each in entries[1].inner] == [("Tree.grow", 21)]


def test_names_are_found_by_the_letter_of_their_last_part(symbols: Symbols) -> None:
    share, tree = symbols.find("p.low.share"), symbols.find("p.low.Tree")
    found = by_letter({"nn.share": share, "Tree": tree, "apply": share, "tanh": share})
    assert {letter: list(names) for letter, names in found.items()} == {
        "A": ["apply"],
        "S": ["nn.share"],
        "T": ["tanh", "Tree"],
    }
