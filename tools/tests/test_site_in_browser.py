"""The site in a browser without scripts: layout, and keyboard navigation."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mt.site.browser import BrowserError, Page, page, programs
from mt.site.testing import site_for_tests

WIDTHS = (400, 1400)
CONCEPT = "concept-sum.html"
HEIGHT = 900

FOCUSABLE = """
    [...document.querySelectorAll('a[href], input, summary, [tabindex="0"]')].filter(
        element => element.checkVisibility()
    )
"""
FOCUSED = f"{FOCUSABLE}.indexOf(document.activeElement)"


@pytest.fixture(scope="module")
def site_folder() -> Path:
    return site_for_tests()


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    try:
        programs()
    except BrowserError as error:
        pytest.skip(str(error))
    with page() as opened:
        yield opened


@pytest.fixture
def shown(browser: Page, site_folder: Path) -> Callable[..., Page]:
    """A function that shows a page in a window with a given width, on a light screen."""

    def show(path: str, width: int = 1400) -> Page:
        browser.prefer("light")
        browser.resize(width, HEIGHT)
        browser.open(f"file://{site_folder}/{path}")
        return browser

    return show


def becomes(page: Page, expression: str) -> bool:
    """Return whether an expression becomes true: scrolling and navigation take time."""
    for _ in range(100):
        with suppress(BrowserError):  # between two pages there is nothing to ask
            if page.value(expression):
                return True
        time.sleep(0.02)
    return False


def paths(folder: Path) -> list[str]:
    """Return all pages except source code, and some of these."""
    source = sorted(folder.glob("source/*.html"))
    return [file.relative_to(folder).as_posix() for file in [*folder.glob("*.html"), *source[::40]]]


def test_no_page_complains_loads_from_outside_or_is_wider_than_the_window(
    shown: Callable[..., Page], site_folder: Path
) -> None:
    for path in paths(site_folder):
        page = shown(path)
        assert not page.complaints(), path
        requests = page.requests()
        assert len(requests) >= 2, path
        assert all(url.startswith(f"file://{site_folder}/") for url in requests), path
        for width in WIDTHS:
            page.resize(width, HEIGHT)
            assert page.value("document.documentElement.scrollWidth") <= width, (path, width)


def test_a_dark_screen_gets_dark_pages(shown: Callable[..., Page]) -> None:
    colours = (
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    page = shown("index.html")
    light = page.value(colours)
    page.prefer("dark")
    dark = page.value(colours)
    assert light[0] != dark[0]
    assert light[1] != dark[1]


@pytest.mark.parametrize("path", ["index.html", CONCEPT, "diff-operators-autodiff.html"])
def test_tab_reaches_everything_in_order_and_shows_where_it_is(
    shown: Callable[..., Page], path: str
) -> None:
    page = shown(path)
    for place in range(min(60, page.value(f"{FOCUSABLE}.length"))):
        page.press("TAB")
        assert page.value(FOCUSED) == place, (path, place)
        assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_first_link_leads_past_the_others(shown: Callable[..., Page]) -> None:
    page = shown(CONCEPT)
    page.press("TAB")
    page.press("ENTER")
    assert becomes(page, "location.hash === '#content'")
    page.press("TAB")
    assert page.value("document.activeElement.closest('main') !== null")


def test_code_opens_by_a_key(shown: Callable[..., Page]) -> None:
    page = shown(CONCEPT)
    page.value("document.querySelector('.doc summary').focus()")
    assert not page.value("document.querySelector('.doc').open ?? false")
    page.press("ENTER")
    assert becomes(page, "document.querySelector('details.doc').open")


def test_columns_are_wide_and_scroll_by_keys(shown: Callable[..., Page]) -> None:
    page = shown(CONCEPT)
    widths = page.value(
        "[...document.querySelectorAll('.column')].map(column => column.clientWidth)"
    )
    assert all(2 * width > 0.85 * 1400 for width in widths)
    in_view = """[...document.querySelectorAll('.column')].filter(
        column => column.getBoundingClientRect().right <= innerWidth).length"""
    assert page.value(in_view) == 2
    one = "document.body.appendChild(document.querySelector('.code').cloneNode()).appendChild"
    letters = page.value(f"""(() => {{
        const line = {one}(document.createElement('code'));
        line.style.display = 'inline-block';
        line.textContent = '0'.repeat(80);
        return line.getBoundingClientRect().width; }})()""")
    rooms = page.value("""[...document.querySelectorAll('.column .code code')].map(
        code => code.getBoundingClientRect().width)""")
    assert letters <= min(rooms), "a line of 80 characters would be broken"
    page.value("document.querySelector('.columns').focus()")
    page.press("ARROW_RIGHT")
    assert becomes(page, "document.querySelector('.columns').scrollLeft > 0")


def test_columns_can_be_hidden_by_keyboard(shown: Callable[..., Page]) -> None:
    page = shown(CONCEPT)
    visible = """[...document.querySelectorAll('.column')].filter(
        column => column.checkVisibility()).map(column => column.id)"""
    boxes = "document.querySelectorAll('.jump input')"
    columns = page.value(visible)
    assert len(columns) == page.value(f"{boxes}.length")
    for place in range(1, len(columns) - 1):
        page.value(f"{boxes}[{place}].focus()")
        page.press("SPACE")
    assert page.value(visible) == [columns[0], columns[-1]]


def test_on_a_phone_columns_follow_each_other(shown: Callable[..., Page]) -> None:
    page = shown(CONCEPT, 400)
    boxes = "[...document.querySelectorAll('.column')].map(each => each.getBoundingClientRect())"
    assert page.value(f"new Set({boxes}.map(box => box.left)).size") == 1
    assert page.value(f"{boxes}.every((box, n, all) => !n || box.top >= all[n - 1].bottom)")


def test_the_heading_of_a_column_stays_in_view(shown: Callable[..., Page]) -> None:
    page = shown(CONCEPT)
    page.value("document.querySelector('#cuda').scrollTop = 500")
    assert page.value("document.querySelector('#cuda').scrollTop") == 500
    assert page.value("""document.querySelector('#cuda h3').getBoundingClientRect().top
        - document.querySelector('#cuda').getBoundingClientRect().top""") == pytest.approx(0, abs=1)


def test_a_link_leads_to_each_column(shown: Callable[..., Page]) -> None:
    page = shown(CONCEPT)
    page.value("document.querySelector('.jump a[href=\"#cuda\"]').focus()")
    page.press("ENTER")
    inside = """(() => {
        const box = document.querySelector('#cuda').getBoundingClientRect();
        const bar = document.querySelector('.jump').getBoundingClientRect();
        return box.left >= 0 && box.right <= innerWidth
            && box.top >= bar.bottom - 1 && box.top < innerHeight / 2; })()"""
    assert becomes(page, inside)


def test_a_symbol_leads_to_its_definition(shown: Callable[..., Page]) -> None:
    page = shown(CONCEPT)
    count = page.value("document.querySelectorAll('.column h4 a').length")
    assert count > 8
    for place in range(0, count, 3):
        page = shown(CONCEPT)
        link = f"document.querySelectorAll('.column h4 a')[{place}]"
        name = page.value(f"{link}.textContent").rpartition(".")[2]
        page.value(f"{link}.focus()")
        page.press("ENTER")
        assert becomes(page, "document.querySelector(':target') !== null"), name
        # Decorators stand above the name.
        seen = """(() => { let line = document.querySelector(':target');
            let text = line.textContent;
            while (/^\\s*@/.test(line.textContent)) {
                line = line.nextElementSibling; text += line.textContent;
            }
            return text; })()"""
        assert any(f"{kind} {name}" in page.value(seen) for kind in ("def", "class")), name
        in_view = """(() => {
            const box = document.querySelector(':target').getBoundingClientRect();
            return box.top >= 0 && box.bottom <= innerHeight; })()"""
        assert becomes(page, in_view), name


def test_without_a_browser_the_error_explains_how_to_install_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("MT_BROWSER", "/no/such/browser")
    with pytest.raises(BrowserError, match="apt-get install chromium"):
        programs()


def test_a_part_of_the_same_page_is_opened_without_loading_it(shown: Callable[..., Page]) -> None:
    shown("index.html")
    page = shown("index.html#ideas")
    assert not page.requests()
    assert page.value("document.querySelector(':target').id") == "ideas"


def test_errors_of_the_browser_are_reported(browser: Page) -> None:
    with pytest.raises(BrowserError, match="not a url: .*invalid argument"):
        browser.open("not a url")
    with pytest.raises(BrowserError, match="nothing is not defined"):
        browser.value("nothing")
