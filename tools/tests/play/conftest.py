"""Fixtures: one server and one browser for all tests of pages.

Without either, the tests are skipped.
"""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from mt.browser import BrowserError, page, programs
from play.testing import Reader, served

NO_COMPLAINT = ("_stcore/health", "_stcore/host-config")
"""Addresses that Streamlit tries until it finds the server."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a browser, so that they can be run separately."""
    for item in items:
        if "anywhere" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def anywhere() -> Iterator[Reader]:
    """A user with a browser, who has not opened the playground yet."""
    if find_spec("streamlit") is None:
        pytest.skip("the playground needs streamlit: hatch run play:prove")
    try:
        programs()
    except BrowserError as error:
        pytest.skip(str(error))
    with served() as address, page(scripts=True) as opened:
        yield Reader(opened, address)


@pytest.fixture
def reader(anywhere: Reader) -> Iterator[Reader]:
    """A user with a light screen; the test fails if the page reports errors."""
    anywhere.page.resize(1280, 900)
    anywhere.page.prefer("light")
    anywhere.page.complaints()
    yield anywhere
    complaints = anywhere.page.complaints()
    assert not [c for c in complaints if not any(known in c for known in NO_COMPLAINT)]
    assert anywhere.page.value("document.querySelector('[data-testid=stException]') === null")
