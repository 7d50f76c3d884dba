"""The site: valid pages, working links, and code identical to the files."""

import itertools
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

import pytest

from mt.concept.order import read_order
from mt.site.build import STYLE, build, pairs
from mt.site.code import place, source_path
from mt.site.folder import LIST, SiteError, SiteFolder
from mt.site.pages import concept_path, diff_path, stage_path
from mt.site.picture import picture
from mt.site.testing import site_for_tests
from mt.skeleton.course import read_tasks
from mt.source.symbols import Symbols
from mt.workspace import Workspace

VOID = {"br", "img", "input", "line", "link", "meta", "path", "rect", "wbr"}
"""Elements without an end tag; those of SVG end with a slash."""

IN_LINES = {"a", "b", "br", "code", "del", "em", "img", "ins", "span", "strong", "wbr"}
"""Elements allowed in a paragraph, a heading or code."""

ONLY_LINES = {"p", "h1", "h2", "h3", "h4", "code", "summary", "pre"}

TYPICAL = ("index.html", "names.html", "concept-sum.html", "stage-nn.html", "diff-tensor-fast.html")


@dataclass
class Element:
    """An open element of a page."""

    tag: str
    given: dict[str, str]
    text: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """The errors, links and link targets of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[Element] = []
        self.faults: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: list[str] = []
        self.tags: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.following = ""
        self.feed(text)
        self.close()
        self.faults += [f"<{element.tag}> does not end" for element in self.open]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.tags.append(tag)
        if len(given) < len(attributes):
            self.faults.append(f"<{tag}> has an attribute twice")
        around = next((each.tag for each in self.open if each.tag in ONLY_LINES), "")
        if around and tag not in IN_LINES:
            self.faults.append(f"<{tag}> within <{around}>")
        if tag == "a" and any(each.tag == "a" for each in self.open):
            self.faults.append("<a> within <a>")
        if tag == "th" and given.get("scope") not in {"col", "row"}:
            self.faults.append("<th> without scope")
        if tag == "img" and not given.get("alt"):
            self.faults.append("<img> without alt")
        if "id" in given:
            self.places.append(given["id"])
        if "style" in given or any(name.startswith("on") for name in given):
            self.faults.append(f"<{tag}> with a style or a script of its own")
        if tag == "a":
            self.links.append(given["href"])
            if given.get("rel") == "next":
                self.following = given["href"]
        self.loaded += [given[name] for name in ("src",) if name in given]
        if tag == "link":
            self.loaded.append(given["href"])
        if tag not in VOID:
            self.open.append(Element(tag, given))

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1].tag != tag:
            self.faults.append(f"</{tag}> at line {self.getpos()[0]} ends nothing")
            return
        element = self.open.pop()
        text = "".join(element.text)
        self.texts.setdefault(tag, []).append(text)
        if self.open:
            self.open[-1].text.append(text)

    def handle_data(self, data: str) -> None:
        if self.open:
            self.open[-1].text.append(data)

    @property
    def levels(self) -> list[int]:
        """The levels of the headings, in order."""
        return [int(tag[1]) for tag in self.tags if re.fullmatch("h[1-6]", tag)]


@pytest.fixture(scope="module")
def site_folder() -> Path:
    return site_for_tests()


@pytest.fixture(scope="module")
def site(site_folder: Path) -> dict[str, Page]:
    return {
        file.relative_to(site_folder).as_posix(): Page(file.read_text(encoding="utf-8"))
        for file in site_folder.rglob("*.html")
    }


def test_pages_are_valid(site: dict[str, Page]) -> None:
    for path, page in site.items():
        assert not page.faults, path
        assert len(page.places) == len({*page.places}), path
        assert page.tags.count("main") == page.tags.count("h1") == 1, path
        assert page.levels[0] == 1, path
        assert all(after <= before + 1 for before, after in itertools.pairwise(page.levels)), path
    titles = [page.texts["title"] for page in site.values()]
    assert len(titles) == len({*map(tuple, titles)})


def test_the_checks_of_pages_find_faults() -> None:
    for text in (
        "<p><div></div></p>",
        "<ul><li></ul>",
        "<p>",
        "</p>",
        "<a href='#x'><code><a href='#y'></a></code></a>",
        "<th>name</th>",
        "<img src='x.svg'>",
        "<p onclick='x()'></p>",
        "<p id='x' id='y'></p>",
    ):
        assert Page(text).faults, text


def test_every_link_leads_somewhere(site: dict[str, Page], site_folder: Path) -> None:
    places = {path: {*page.places} for path, page in site.items()}
    for path, page in site.items():
        for link in {*page.links, *page.loaded}:
            if link.startswith("https://") and link not in page.loaded:
                continue
            file, _, place = link.partition("#")
            target = _flat(PurePosixPath(path).parent / file) if file else path
            assert target in places or (site_folder / target).is_file(), f"{path} leads to {link}"
            assert not place or place in places[target], f"{path} leads to {link}"


def _flat(path: PurePosixPath) -> str:
    """Return a path without `..`."""
    found: list[str] = []
    for part in path.parts:
        if part == "..":
            found.pop()
        else:
            found.append(part)
    return "/".join(found)


def test_pages_need_no_script_and_load_nothing_from_outside(
    site: dict[str, Page], site_folder: Path
) -> None:
    for path, page in site.items():
        assert not {"script", "iframe", "object", "style"} & {*page.tags}, path
        assert not [link for link in page.loaded if ":" in link], path
    style = (site_folder / "style.css").read_text(encoding="utf-8")
    assert "url(" not in style
    assert "@import" not in style


def test_the_first_page_leads_to_everything(site: dict[str, Page]) -> None:
    links = {link.partition("#")[0] for link in site["index.html"].links}
    workspace, order = Workspace.read(), read_order()
    assert {diff_path(*pair) for pair in pairs(workspace)} <= links
    assert {stage_path(stage) for stage in workspace.stages.values()} <= links
    assert {concept_path(concept) for concept in order.concepts.values()} <= links
    listed = {text.replace("`", "") for text in site["index.html"].texts["li"]}
    for concept in order.concepts.values():
        assert {question.replace("`", "") for question in concept.asks} <= listed


def test_ideas_follow_each_other_in_the_order_of_reading(site: dict[str, Page]) -> None:
    paths = [concept_path(concept) for concept in read_order().concepts.values()]
    assert [site[path].following for path in paths] == [*paths[1:], ""]


def test_stages_follow_each_other(site: dict[str, Page]) -> None:
    paths = [stage_path(stage) for stage in Workspace.read().stages.values()]
    assert [site[path].following for path in paths] == [*paths[1:], ""]


def test_the_tasks_of_a_stage_name_existing_functions(site: dict[str, Page]) -> None:
    symbols = Symbols(Workspace.read().library())
    tasks = read_tasks()
    assert tasks
    for task in tasks.values():
        page = site[f"stage-{task.stage}.html"]
        assert task.mark in page.places
        assert {place(symbols.find(name)) for name in task.functions} <= {*page.links}


def test_a_page_shows_a_module_unchanged(site: dict[str, Page]) -> None:
    workspace = Workspace.read()
    library = workspace.library()
    for package in library.folders:
        for module in library.modules(package):
            page = site[source_path(module)]
            (shown,) = page.texts["pre"]
            assert shown.rstrip("\n") == module.text.rstrip("\n"), module.name
            count = len(module.text.rstrip("\n").split("\n"))
            assert [f"L{line}" for line in range(1, count + 1)] == [
                place for place in page.places if re.fullmatch(r"L\d+", place)
            ], module.name


def test_code_that_an_idea_shows_leads_back_to_it(site: dict[str, Page]) -> None:
    symbols = Symbols(Workspace.read().library())
    for concept in read_order().concepts.values():
        for name in {name for step in concept.steps for name in step.symbols if "[" not in name}:
            symbol = symbols.find(name)
            if symbol.kind in {"class", "function"}:
                links = site[source_path(symbol.module)].links
                assert f"../{concept_path(concept)}" in links, name
                assert f"#{place(symbol).partition('#')[2]}" in links, name


def test_the_picture_has_arrows_between_stages_that_build_on_each_other() -> None:
    shown = picture(Workspace.read())
    arrows = [(below.stage.short, above.stage.short) for below, above in shown.arrows]
    assert sorted(arrows) == [
        ("autodiff", "tensor"),
        ("fast", "cuda"),
        ("operators", "autodiff"),
        ("tensor", "fast"),
        ("tensor", "nn"),
    ]
    assert all(above.y + shown.high < below.y for below, above in shown.arrows)
    for one, other in itertools.combinations(shown.boxes, 2):
        assert abs(one.x - other.x) > shown.wide or abs(one.y - other.y) > shown.high


def test_each_column_of_each_concept_can_be_hidden(site: dict[str, Page]) -> None:
    style = STYLE.read_text(encoding="utf-8")
    most = max(map(int, re.findall(r"~ \.columns > :nth-child\((\d+)\)", style)))
    for concept in read_order().concepts.values():
        columns = len(concept.steps) + len(concept.counterexamples)
        assert site[concept_path(concept)].tags.count("input") == columns <= most


def test_the_site_is_small(site_folder: Path) -> None:
    sizes = {file: file.stat().st_size for file in site_folder.rglob("*") if file.is_file()}
    assert sum(sizes.values()) < 24e6
    assert max(sizes.values()) < 1e6, max(sizes, key=lambda file: sizes[file])


# --- Colours ------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, as https://www.w3.org/TR/WCAG22 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_all_text_can_be_read(scheme: int) -> None:
    style = STYLE.read_text(encoding="utf-8")
    pairs_of = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", style)
    colours = {name: schemes[scheme] for name, *schemes in pairs_of}
    grounds = {colours.pop(name) for name in ("paper", "sheet", "target")}
    colours.pop("line")
    used = {*re.findall(r"[^-]color: var\(--(\w+)\)", style)}
    assert used - {"paper", "sheet"} <= {*colours}
    assert not re.findall(r"[^-]color: (?:#|light-dark)", style)
    for (name, text), ground in itertools.product(colours.items(), grounds):
        assert contrast(text, ground) >= 4.5, f"{name} on {ground}"


# --- Where it is built --------------------------------------------------------------------------


def test_other_files_in_a_folder_are_kept(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(SiteError, match="is not empty and not a site"):
        build(tmp_path, run=False)
    assert (tmp_path / "letter.txt").is_file()


def test_a_site_that_is_built_anew_removes_what_it_wrote_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "new" / "site"
    before = SiteFolder(out)
    for path in ("index.html", "ideas/sum.html", "ideas/old/sum.html", "names.html"):
        before.file(path).write_text("the site's")
    (out / "names.html").unlink()
    for path in ("letter.txt", "ideas/mine.html"):
        (out / path).write_text("mine")
    after = SiteFolder(out)
    left = {file.relative_to(out).as_posix() for file in out.rglob("*") if file.name != LIST}
    assert left == {"letter.txt", "ideas", "ideas/mine.html"}
    after.file("ideas/sum.html").write_text("the site's")
    with pytest.raises(SiteError, match=r"mine\.html is not part of the site and would be lost"):
        after.file("ideas/mine.html")
    assert (out / "ideas" / "mine.html").read_text() == "mine"
