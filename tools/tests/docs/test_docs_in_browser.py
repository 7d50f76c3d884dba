"""The documentation in Chromium: the course, every page at several widths, and the search.

`hatch run docs:prove` builds the site and runs these tests; none may be skipped.
"""

from __future__ import annotations

import json
import math
import os
import re
import threading
import time
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest

from mt.browser import BrowserError, Page, page, programs
from mt.docs.serve import server
from mt.workspace import ROOT

pytestmark = pytest.mark.browser

SITE = ROOT / "build" / "docs"
AXE = ROOT / "docs" / "node_modules" / "axe-core" / "axe.min.js"
COURSE = sorted(file.relative_to(SITE).as_posix() for file in SITE.glob("course/**/*.html"))
OTHERS = ["index.html", "guides.html", "guides/tensor/tensors.html", "guides/names.html"]
OTHERS += ["ideas/index.html", "ideas/sum.html", "reference.html", "reference/operators/index.html"]
OTHERS += ["reference/tensor/sum.html", "reference/nn/Linear.html", "search.html"]

LIMIT = 500_000
"""The maximum size of a page with what it loads at once, in bytes, without Python."""

SMALLEST = """Math.min(...[...document.querySelectorAll(".cell-output svg text")].map(
    (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""
"""The size of the smallest text in the drawings of a page, in pixels; Infinity without any."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the site."""
    if not (SITE / "index.html").exists():
        pytest.skip("the site is not built: hatch run docs:build")
    with server(str(SITE)) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}/"
        serving.shutdown()


@pytest.fixture(scope="module")
def browser(address: str) -> Iterator[Page]:
    """A browser with scripts."""
    try:
        programs()
    except BrowserError as error:
        pytest.skip(str(error))
    with page() as opened:
        yield opened


# --- The course -----------------------------------------------------------------------------------

LIVE = "document.documentElement.classList.contains('cells-live')"


def type_into(browser: Page, editor: str, text: str) -> None:
    """Replace the content of an editor as if it were typed."""
    browser.value(
        f"(() => {{ const area = document.querySelector({json.dumps(editor)}); area.focus(); "
        "area.select(); "
        f"return document.execCommand('insertText', false, {json.dumps(text)}); }})()"
    )


def run_all(browser: Page) -> None:
    """Run the last cell of a page, which first runs all others, and wait until they end."""
    browser.value(
        "[...document.querySelectorAll('.cell .cell-bar button')]"
        ".filter((button) => button.textContent === 'Run').at(-1).click()"
    )
    busy = "[...document.querySelectorAll('.cell-state')].some((state) => state.textContent)"
    browser.until(busy)
    browser.until(f"!{busy}")


def test_course_can_be_followed_in_the_browser_to_a_trained_network(
    browser: Page, address: str
) -> None:
    browser.open(address)
    browser.value("document.querySelector('a[href*=\"course/index\"]').click()")
    seen = []
    while "autodiff/learning" not in browser.value("location.pathname"):
        browser.until("document.querySelector('.next-page') !== null")
        seen.append(browser.value("location.pathname"))
        assert len(seen) < 30, seen
        if "autodiff/differences" in seen[-1]:
            browser.until(LIVE)
            browser.value("document.querySelector('.task-functions .cell-bar button').click()")
            browser.until("document.querySelector('.task-failed') !== null")
            solution = browser.value("document.querySelector('.task details pre').textContent")
            type_into(browser, ".task-functions textarea", solution)
            browser.value("document.querySelector('.task-functions .cell-bar button').click()")
            browser.until("document.querySelector('.task-passed') !== null")
            assert "1.1  done" in browser.value(
                "document.querySelector('.task-functions .cell-output pre').textContent"
            )
        browser.value("document.querySelector('.next-page').click()")
        browser.until(f"location.pathname !== {json.dumps(seen[-1])}")
    browser.until(LIVE)
    run_all(browser)
    assert not browser.value("document.querySelector('.cell-error')")
    assert browser.value("document.querySelectorAll('.cell-output svg').length") > 0


def test_edited_cell_shows_the_new_result_or_error(browser: Page, address: str) -> None:
    browser.open(urljoin(address, "course/autodiff/order.html"))
    browser.until(LIVE)
    type_into(browser, ".cell textarea", "x = Scalar(5.0)\n(x * x).backward()\nx.derivative")
    browser.value("document.querySelector('.cell .cell-bar button').click()")
    browser.until("document.querySelector('.cell .cell-output').textContent.trim() === '10.0'")
    type_into(browser, ".cell textarea", "1 / 0")
    browser.value("document.querySelector('.cell .cell-bar button').click()")
    browser.until("document.querySelector('.cell .cell-error') !== null")
    text = browser.value("document.querySelector('.cell .cell-error').textContent")
    assert "ZeroDivisionError" in text


def test_endless_cell_can_be_stopped_and_run_again(browser: Page, address: str) -> None:
    browser.open(urljoin(address, "course/autodiff/order.html"))
    browser.until(LIVE)
    button = "document.querySelector('.cell .cell-bar button')"
    type_into(browser, ".cell textarea", "while True: pass")
    browser.value(f"{button}.click()")
    browser.until(f"{button}.textContent === 'Stop'")
    browser.value(f"{button}.click()")
    browser.until("document.querySelector('.cell .cell-state').textContent === 'stopped'")
    type_into(browser, ".cell textarea", "6 * 7")
    browser.value(f"{button}.click()")
    browser.until("document.querySelector('.cell .cell-output').textContent.trim() === '42'")


@pytest.mark.parametrize(
    "chapter",
    [name for name in COURSE if re.search("course/(operators|autodiff)/(?!index)", name)],
)
def test_cells_of_a_chapter_run_in_the_browser(chapter: str, browser: Page, address: str) -> None:
    browser.open(urljoin(address, chapter))
    browser.until(LIVE)
    expected = browser.value("document.querySelectorAll('.cell-error').length")
    if browser.value("document.querySelectorAll('.cell:not(.static)').length"):
        run_all(browser)
    assert browser.value("document.querySelectorAll('.cell-error').length") == expected


@pytest.mark.parametrize("chapter", COURSE)
def test_solutions_of_a_chapter_pass_in_the_browser(
    chapter: str, browser: Page, address: str
) -> None:
    browser.open(urljoin(address, chapter))
    if browser.value("document.querySelector('meta[name=cells]')?.content || ''") == "":
        return
    browser.until(LIVE)
    for place in range(browser.value("document.querySelectorAll('.task-functions').length")):
        task = f"document.querySelectorAll('section.task')[{place}]"
        if not browser.value(f"{task}.querySelector('textarea') !== null"):
            continue
        solutions = browser.value(
            f"[...{task}.querySelectorAll('details pre')].map((each) => each.textContent)"
        )
        for number, solution in enumerate(solutions):
            browser.value(
                f"(() => {{ const area = {task}.querySelectorAll('textarea')[{number}]; "
                "area.focus(); area.select(); "
                f"return document.execCommand('insertText', false, {json.dumps(solution)}); }})()"
            )
        browser.value(f"{task}.querySelector('.cell-bar button').click()")
        done = f"{task}.querySelector('.task-passed, .task-failed')"
        browser.until(f"{done} !== null")
        output = browser.value(f"{task}.querySelector('.cell-output').textContent")
        assert browser.value(f"{done}.className") == "task-passed", output


# --- Every page -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*COURSE, *OTHERS])
def test_page_fits_every_width_and_is_accessible(name: str, browser: Page, address: str) -> None:
    for width, scheme in ((1440, "light"), (768, "dark"), (390, "light")):
        browser.resize(width, 900)
        browser.prefer(scheme)  # type: ignore[arg-type]
        browser.open(urljoin(address, name))
        excess = browser.value("document.documentElement.scrollWidth - innerWidth")
        assert excess <= 0, f"{width} pixels: {excess} too many"
        assert (browser.value(SMALLEST) or math.inf) > 7.5, f"{width} pixels: illegible drawings"
        browser.load(AXE.read_text(encoding="utf-8"))
        found = browser.value(
            "axe.run({resultTypes: ['violations']}).then((all) => all.violations"
            ".filter((each) => ['serious', 'critical'].includes(each.impact))"
            ".map((each) => each.id + ': ' + each.nodes.slice(0, 3).map((n) => n.html).join(' ')))"
        )
        assert found == [], f"{width} pixels, {scheme}"
    assert browser.complaints() == []


@pytest.mark.parametrize("name", [*COURSE, *OTHERS])
def test_page_loads_few_bytes_and_only_from_the_site(
    name: str, browser: Page, address: str
) -> None:
    browser.open(urljoin(address, name))
    browser.until("document.readyState === 'complete'")
    time.sleep(0.3)
    requests = browser.requests()
    assert all(url.startswith((address, "data:", "blob:")) for url in requests)
    files = {SITE / unquote(urldefrag(url)[0].removeprefix(address)) for url in requests}
    files -= {SITE / "searchindex.js"}
    sizes = {file.name: file.stat().st_size for file in files if file.is_file()}
    assert sum(sizes.values()) < LIMIT, sizes


# --- The search -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tanh", "broadcast", "conv2d", "use_backend", "view", "reshape"])
def test_search_lists_pages_with_the_name_first(name: str, browser: Page, address: str) -> None:
    browser.open(urljoin(address, f"search.html?q={name}"))
    browser.until("document.querySelectorAll('ul.search li').length > 2")
    titles = browser.value(
        "[...document.querySelectorAll('ul.search li a')].map((a) => a.textContent.toLowerCase())"
    )
    exact = sum(title.rpartition(".")[2] == name for title in titles)  # 0 for part of a name
    assert all(name in title for title in titles[: min(exact or 3, 3)]), titles


# --- Tests without a browser ----------------------------------------------------------------------


class Links(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and the anchors of a tag."""
        for name, value in attrs:
            if name in {"href", "src"} and value:
                self.links.append(value)
            elif name == "id" and value:
                self.anchors.add(value)


@pytest.mark.skipif(not SITE.exists(), reason="the site is not built: hatch run docs:build")
def test_every_link_has_a_target() -> None:
    pages = {str(file): Links(file.read_text(encoding="utf-8")) for file in SITE.rglob("*.html")}
    exists = cache(os.path.exists)
    dead = []
    for file, found in pages.items():
        for link in {*found.links}:
            path, anchor = urldefrag(link)
            path = path.partition("?")[0]
            if re.match(r"[a-z]+:", link):
                continue
            target = normpath(f"{file}/../{unquote(path)}") if path else file
            known = pages.get(target)
            if not exists(target) or (anchor and known and anchor not in known.anchors):
                dead.append(f"{file}: {link}")
    assert dead == []


@pytest.mark.skipif(not SITE.exists(), reason="the site is not built: hatch run docs:build")
def test_page_without_scripts_has_the_results_of_its_cells() -> None:
    text = Path(SITE / "course/autodiff/order.html").read_text(encoding="utf-8")
    assert "15 additions:  65535 visits" in text
    assert text.count('<div class="cell-output"') == text.count('<div class="cell">')


def article(name: str) -> str:
    """Return the HTML of the text of a page, without the lists of other pages."""
    text = (SITE / name).read_text(encoding="utf-8")
    return text[text.find("<article") : text.find("</article>")]


@pytest.mark.skipif(not SITE.exists(), reason="the site is not built: hatch run docs:build")
def test_no_page_shows_markup_or_is_too_large() -> None:
    hidden = re.compile(r"<(pre|code|math|script|style|dt)\b.*?</\1>|<[^>]*>", re.DOTALL)
    markup = re.compile(r"\$|\]\(|\*\*|``|:::|&gt;&gt;&gt;")
    wrong = []
    for file in SITE.rglob("*.html"):
        name, text = file.relative_to(SITE).as_posix(), article(str(file))
        wrong += [f"{name}: {found}" for found in markup.findall(hidden.sub("", text))]
        if name.startswith("reference/"):
            wrong += [f"{name}: {found}" for found in re.findall("<blockquote>| at 0x", text)]
        if file.stat().st_size > LIMIT - 100_000:  # styles and scripts of every page
            wrong.append(f"{name}: {file.stat().st_size} bytes")
    assert wrong == []


@pytest.mark.skipif(not SITE.exists(), reason="the site is not built: hatch run docs:build")
def test_ideas_and_chapters_link_to_each_other() -> None:
    chapters = "".join(map(article, COURSE))
    for file in {*SITE.glob("ideas/*.html")} - {SITE / "ideas/index.html"}:
        introduction = article(f"ideas/{file.name}").partition("<h2")[0]
        assert "../course/" in introduction, file.name
        assert f"../../ideas/{file.name}" in chapters, file.name
