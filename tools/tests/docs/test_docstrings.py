"""Conversion of docstrings to Markdown: text, arguments, attributes, links and code."""

from __future__ import annotations

import pytest

from mt.docs.docstrings import attributes_in, described, linked

PAGES = {"ones": "tensor/ones", "ShapeError": "tensor/errors.ShapeError", "size": "tensor/size"}

DOCSTRING = """Return ones, as `ones()` does; `size` is the argument, "mean" a value.

Some code:

    for each index:
        out[index] = 1

And a session:

>>> ones(2)
tensor([1., 1.])

Args:
    size: the size, see `zeros`.
    **options: see the module.

Returns:
    The tensor: it is new,
    and full of `ones`.

Raises:
    ShapeError: it is "negative".
"""


def page_of(name: str) -> str:
    """Return the page of a name."""
    return PAGES.get(name, "")


@pytest.mark.parametrize(
    "part",
    [
        "as [`ones()`](/reference/tensor/ones.md) does; `size` is",
        '`"mean"` a value',
        "```python\nfor each index:\n    out[index] = 1\n```",
        "```pycon\n>>> ones(2)\ntensor([1., 1.])\n```",
        "`size`\n: the size, see `zeros`.",
        "**Returns**\n\nThe tensor: it is new,\nand full of [`ones`](/reference/tensor/ones.md).",
        '[`ShapeError`](/reference/tensor/errors.ShapeError.md)\n: it is `"negative"`.',
    ],
)
def test_docstring_becomes_markdown_with_links_and_code(part: str) -> None:
    assert part in described(DOCSTRING, page_of)


def test_options_replace_the_argument_that_collects_them() -> None:
    text = described(DOCSTRING, page_of, [("dtype", "the dtype.")])
    assert "`size`\n: the size, see `zeros`.\n\n`dtype`\n: the dtype.\n" in text
    assert "options" not in text


def test_attributes_in_one_line_keep_all_their_names() -> None:
    docstring = "A range.\n\nAttributes:\n    low, high, step: its bounds."
    assert list(attributes_in(docstring)) == [("low, high, step", "its bounds.")]
    assert "`low`, `high`, `step`\n: its bounds." in described(docstring, page_of)


@pytest.mark.parametrize(
    "text",
    ["[`ones`](other.md)", "```pycon\n>>> ones  # `ones`\n```", '"Deep Networks"', "`x.ones`"],
)
def test_links_code_blocks_and_titles_are_left_as_they_are(text: str) -> None:
    assert linked(text, page_of) == text
