"""The site is whole: every link leads somewhere, and nothing comes from outside."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from mt.concept.maps import read_map
from mt.site.build import SiteError, build, neighbours
from mt.site.pages import concept_path, diff_path
from mt.workspace import Workspace


class Page(HTMLParser):
    """What a page refers to, and what can be referred to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.tags.append(tag)
        self.places.update(value for value in (given.get("id"),) if value)
        self.links += [given[name] or "" for name in ("href", "src") if name in given]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    folder = tmp_path_factory.mktemp("site")
    count = build(folder, run=False)
    pages = {
        str(file.relative_to(folder)): Page(file.read_text(encoding="utf-8"))
        for file in folder.rglob("*.html")
    }
    assert len(pages) == count
    assert (folder / "style.css").is_file()
    return pages


def test_every_link_leads_somewhere(site: dict[str, Page]) -> None:
    for path, page in site.items():
        for link in page.links:
            file, _, place = link.partition("#")
            target = Path(path).parent.joinpath(file).as_posix() if file else path
            target = "/".join(_flat(target.split("/")))
            if target == "style.css":
                continue
            assert target in site, f"{path} leads to {link}"
            assert not place or place in site[target].places, f"{path} leads to {link}"


def _flat(parts: list[str]) -> list[str]:
    """Return the parts of a path without `..`."""
    found: list[str] = []
    for part in parts:
        if part == "..":
            found.pop()
        else:
            found.append(part)
    return found


def test_pages_need_no_script_and_nothing_from_outside(site: dict[str, Page]) -> None:
    for path, page in site.items():
        assert not {"script", "iframe", "img"} & {*page.tags}, path
        assert not [link for link in page.links if ":" in link], path
        assert page.tags.count("h1") == 1, path
        assert page.tags.count("main") == 1, path


def test_the_first_page_leads_to_all_stages_and_ideas(site: dict[str, Page]) -> None:
    links = site["index.html"].links
    assert {diff_path(*pair) for pair in neighbours(Workspace.read())} <= {*links}
    assert {concept_path(concept) for concept in read_map().values()} <= {*links}


def test_what_somebody_else_has_in_a_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(SiteError, match="holds something else"):
        build(tmp_path, run=False)
    assert (tmp_path / "letter.txt").is_file()
