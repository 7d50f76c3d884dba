"""One server and one browser for all tests of pages; without either these skip themselves."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from mt.site.browser import BrowserError, page, programs
from play.testing import Reader, served

NO_COMPLAINT = ("_stcore/health", "_stcore/host-config")
"""What Streamlit asks for at each place where it might be, before it finds it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a browser, so that these can be run alone."""
    for item in items:
        if "anywhere" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def anywhere() -> Iterator[Reader]:
    """Somebody with a browser, in which the playground is not opened yet."""
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
    """Somebody before a light screen, whose page must not have complained in the end."""
    anywhere.page.resize(1280, 900)
    anywhere.page.prefer("light")
    anywhere.page.complaints()
    yield anywhere
    complaints = anywhere.page.complaints()
    assert not [c for c in complaints if not any(known in c for known in NO_COMPLAINT)]
    assert anywhere.page.value("document.querySelector('[data-testid=stException]') === null")
