"""Fixtures: pages without a browser, and one server and one browser for all tests that need them.

Where Streamlit or a browser is missing, these tests are skipped.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from typing import Any
from urllib.error import URLError

import pytest

from mt.browser import BrowserError, Page, page, programs

Served = Callable[..., AbstractContextManager[str]]

KNOWN = ("_stcore/health", "_stcore/host-config", '"WARN"')
"""Addresses that Streamlit tries until it finds the server, and warnings about its charts."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need Streamlit, so that they can be run separately."""
    for item in items:
        if {"opened", "served"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.browser)


def check_streamlit() -> None:
    """Skip the test if Streamlit is not installed."""
    if find_spec("streamlit") is None:
        pytest.skip("the playground needs streamlit: hatch run play:prove")


@pytest.fixture
def opened() -> Callable[[str], Any]:
    """A function that opens a page without a browser, by its module: `stage5_words`."""
    check_streamlit()
    from streamlit.testing.v1 import AppTest

    def open_page(module: str) -> Any:
        code = f"from play.pages.{module} import show\nshow()"
        return checked(AppTest.from_string(code, default_timeout=120.0).run())

    return open_page


def checked(page: Any) -> Any:
    """Return a page that has raised no error."""
    assert not page.exception, page.exception[0].stack_trace
    return page


@contextmanager
def serving(**environment: str) -> Iterator[str]:
    """Start the playground on a free port, yield its address, and stop it at the end."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    # Watching files for changes is not needed.
    settings = {"STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none", **environment}
    command = [sys.executable, "-m", "play", f"--server.port={port}", "--server.headless=true"]
    server = subprocess.Popen(command, env={**os.environ, **settings})
    try:
        end = time.monotonic() + 60.0
        while not answers(f"http://localhost:{port}"):
            assert time.monotonic() < end, "the server does not start"
            time.sleep(0.05)
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait()


def answers(address: str) -> bool:
    """Return whether a server is running."""
    with suppress(URLError), urllib.request.urlopen(f"{address}/_stcore/health") as reply:
        return bool(reply.read() == b"ok")
    return False


@pytest.fixture(scope="session")
def served() -> Served:
    """A context manager that starts a server."""
    check_streamlit()
    return serving


@pytest.fixture(scope="session")
def address(served: Served) -> Iterator[str]:
    """The address of the server for all tests."""
    with served() as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Page]:
    """The browser for all tests."""
    try:
        programs()
    except BrowserError as error:
        pytest.skip(str(error))
    with page() as found:
        yield found


@pytest.fixture
def browser(chromium: Page, address: str) -> Iterator[Page]:
    """A browser with a light screen; the test fails if a page reports errors."""
    chromium.resize(1280, 900)
    chromium.prefer("light")
    chromium.complaints()
    yield chromium
    complaints = chromium.complaints()
    assert not [each for each in complaints if not any(known in each for known in KNOWN)]
    assert chromium.value("document.querySelector('[data-testid=stException]') === null")
    assert answers(address)
