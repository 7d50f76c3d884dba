"""The frame: its pages are the files of a folder, and it accepts only local connections."""

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import play
from mt.browser import Page
from mt.workspace import Workspace
from play.contents import PageFile, page_files

FILES = list(page_files())
WIDTHS = (390, 1280)


def test_page_is_described_by_its_file_name_and_docstring(tmp_path: Path) -> None:
    (tmp_path / "stage2_views.py").write_text('"""Views: what they see.\n\nMore."""\n')
    (tmp_path / "stage0_sums.py").write_text('"""Sums: of: numbers."""\n')
    (tmp_path / "__init__.py").write_text('"""The pages."""\n')
    found = [(page.stage, page.name, page.title, page.summary) for page in page_files(tmp_path)]
    assert found == [(0, "sums", "Sums", "Of: numbers."), (2, "views", "Views", "What they see.")]


@pytest.mark.parametrize("text", ["", '"""Views."""', '"""Views: """'])
def test_page_without_a_title_or_summary_raises_value_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "stage2_views.py").write_text(text)
    with pytest.raises(ValueError, match=r"stage2_views.py: the docstring must start with"):
        list(page_files(tmp_path))


@pytest.mark.browser  # runs where Streamlit is installed
def test_page_in_the_readme_runs(tmp_path: Path) -> None:
    testing = pytest.importorskip("streamlit.testing.v1")
    text = (Path(play.__file__).parent / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "stage1_sums.py").write_text(code)
    assert [page.title for page in page_files(tmp_path)] == ["Sums"]
    shown = testing.AppTest.from_string(f"{code}\nshow()").run()
    shown = shown.slider[0].set_value(2.5).run()
    assert shown.metric[0].value == "2.5"


def test_addresses_and_titles_of_pages_are_unique() -> None:
    assert len({page.name for page in FILES}) == len({page.title for page in FILES}) == len(FILES)
    assert all(page.stage < len(Workspace.read().stages) for page in FILES)


def another_address() -> str:
    """Return an address of this machine other than localhost."""
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing, but chooses an interface
        except OSError:  # there is no network
            return "127.0.0.2"
        return str(probe.getsockname()[0])


def outside(browser: Page, address: str) -> list[str]:
    """Return the requests of the page to other servers."""
    ours = (address, "data:", "blob:", "ws://localhost")
    return [url for url in browser.requests() if not url.startswith(ours)]


READY = """(() => {
    const app = document.querySelector('[data-testid=stApp]');
    return app?.dataset.testScriptState === 'notRunning'
        && app.dataset.testConnectionState === 'CONNECTED'
        && document.querySelector('[data-testid=stMain] h1') !== null
        && document.querySelector('[data-stale=true]') === null; })()"""
"""Whether the page is loaded and up to date."""


def test_server_accepts_only_local_connections(
    browser: Page, address: str, served: Callable[..., Any]
) -> None:
    insisting = {
        "STREAMLIT_SERVER_ADDRESS": "0.0.0.0",
        "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "true",
    }
    with served(**insisting) as other:
        port = int(other.rpartition(":")[2])
        with socket.create_connection(("localhost", port)):
            pass
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((another_address(), port))
        browser.open(other)
        browser.until(READY)
        assert not outside(browser, other)
        browser.open(address)  # before the other server stops


def test_first_page_links_to_every_other_page(browser: Page, address: str) -> None:
    browser.open(address)
    browser.until(READY)
    text = browser.value("document.querySelector('[data-testid=stMain]').innerText")
    for page in FILES:
        assert page.summary in text
        browser.until(f"document.querySelector('[data-testid=stMain] a[href$={page.name}]')")


@pytest.mark.parametrize("page", FILES, ids=lambda page: page.name)
def test_page_fits_every_width_and_loads_nothing_from_other_servers(
    browser: Page, address: str, page: PageFile
) -> None:
    browser.open(f"{address}/{page.name}")
    browser.until(READY)
    assert (
        browser.value("document.querySelector('[data-testid=stMain] h1').innerText") == page.title
    )
    for width in WIDTHS:
        browser.resize(width, 900)
        for part in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
            browser.until(f"innerWidth === {width} && {part}.scrollWidth <= innerWidth")
    assert not outside(browser, address)


def test_page_has_another_background_on_a_dark_screen(browser: Page, address: str) -> None:
    ground = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    browser.open(address)
    browser.until(READY)
    light = browser.value(ground)
    browser.prefer("dark")
    browser.until(f"{ground} !== {light!r}")


def test_unknown_address_shows_page_not_found(browser: Page, address: str) -> None:
    browser.open(f"{address}/nothing")
    browser.until("document.body.innerText.includes('Page not found')")
    assert "does not seem to exist" in " ".join(browser.complaints())
