"""A README becomes part of a page, with links to pages or to the outside."""

from pathlib import Path

from mt.site.readme import Readme, readme

TEXT = """
# Title

See [the other](../other/README.md#part), [code](src/code.py), [notes](notes.md),
[below](#the-part) and [outside](https://example.org).

## The `part`

![A line](docs/line.svg) <b>

```python
x = 1 < 2
```

| a | b |
|---|---|
| 1 | 2 |
"""


def made(root: Path) -> Readme:
    file = root / "one" / "README.md"
    file.parent.mkdir()
    file.write_text(TEXT)
    pages = {
        root / "other" / "README.md": "stage-other.html",
        root / "one" / "src" / "code.py": "source/code.html",
    }
    return readme(file, pages)


def test_links_lead_to_pages_and_outside_or_are_text(tmp_path: Path) -> None:
    lead = made(tmp_path).lead
    assert '<a href="stage-other.html#part">the other</a>' in lead
    assert '<a href="source/code.html">code</a>' in lead
    assert '<a href="#the-part">below</a>' in lead
    assert '<a href="https://example.org">outside</a>' in lead
    assert " notes,\n" in lead


def test_the_first_paragraph_is_self_contained(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert found.lead.startswith('<p class="lead">See ')
    assert found.lead.count("<p") == 1
    assert found.html.startswith("<h2")


def test_a_readme_may_begin_with_a_heading(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("# Title\n\n## Part\n\nText.\n")
    found = readme(file, {})
    assert found.lead == ""
    assert found.html.startswith("<h2")


def test_headings_are_anchors_and_the_title_is_left_to_the_page(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert found.headings == (("the-part", "The `part`"),)
    assert '<h2 id="the-part">The <code>part</code></h2>' in found.html
    assert "Title" not in found.html


def test_pictures_come_along(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert found.images == {"images/one-line.svg": tmp_path / "one" / "docs" / "line.svg"}
    assert '<img src="images/one-line.svg" alt="A line" />' in found.html


def test_code_and_tables_look_as_elsewhere(tmp_path: Path) -> None:
    html = made(tmp_path).html
    assert '<pre class="code"><code><span>x = <span class="m">1</span> &lt;' in html
    assert '<th scope="col">a</th>' in html
    assert "&lt;b&gt;" in html
