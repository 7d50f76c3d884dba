"""The playground for tests: a server, and a driver for its pages in a browser."""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.error import URLError

from mt.browser import BrowserError, Page

PATIENCE = 60.0
"""The timeout of waits, in seconds."""

READY = """(() => {
    const app = document.querySelector('[data-testid=stApp]');
    return app?.dataset.testScriptState === 'notRunning'
        && app.dataset.testConnectionState === 'CONNECTED'
        && document.querySelector('[data-testid=stMain] h1') !== null
        && document.querySelector('[data-stale=true]') === null; })()"""
"""Whether the page is loaded and up to date."""


@contextmanager
def served(**environment: str) -> Iterator[str]:
    """Start the playground on a free port, yield its address, and stop it at the end.

    Args:
        **environment: additional environment variables.
    """
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    address = f"http://localhost:{port}"
    command = [sys.executable, "-m", "play", f"--port={port}"]
    # Watching files for changes is not needed.
    settings = {"STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none", **environment}
    server = subprocess.Popen(command, env={**os.environ, **settings})
    try:
        wait_for(lambda: answers(address), f"the server at {address}")
        yield address
    finally:
        server.terminate()
        server.wait()


def answers(address: str) -> bool:
    """Return whether the server is running."""
    with suppress(URLError), urllib.request.urlopen(f"{address}/_stcore/health") as reply:
        return bool(reply.read() == b"ok")
    return False


def wait_for(asked: Any, what: str) -> None:
    """Wait until a function returns true.

    Raises:
        TimeoutError: it does not within the timeout.
    """
    end = time.monotonic() + PATIENCE
    while not asked():
        if time.monotonic() > end:
            raise TimeoutError(f"timeout: {what}.")
        time.sleep(0.03)


class Reader:
    """A user of the playground, who opens pages, changes inputs, and reads them.

    Inputs are identified by their labels.

    Args:
        page: a page of a browser with scripts enabled.
        address: the address of the server.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    def open(self, path: str) -> None:
        """Open a page of the playground, and wait until it is loaded."""
        self.page.open(f"{self.address}/{path}")
        self.settle()

    def settle(self) -> None:
        """Wait until the page is up to date."""
        wait_for(lambda: self.holds(READY), "the page to be up to date")

    def holds(self, expression: str) -> bool:
        """Return whether a JavaScript expression is true in the page."""
        with suppress(BrowserError):  # evaluation can fail while the page changes
            return bool(self.page.value(expression))
        return False

    def until(self, expression: str) -> None:
        """Wait until a JavaScript expression is true in the page."""
        wait_for(lambda: self.holds(expression), expression)

    def text(self, selector: str = "[data-testid=stMain]") -> str:
        """Return the visible text of a part of the page."""
        found = f"document.querySelector({json.dumps(selector)})"
        return str(self.page.value(f"{found}?.innerText ?? ''"))

    def sees(self, text: str, selector: str = "[data-testid=stMain]") -> None:
        """Wait until a text is visible in a part of the page."""
        try:
            wait_for(lambda: text in self.text(selector), repr(text))
        except TimeoutError as error:
            raise TimeoutError(f"{error} The page shows {self.text(selector)!r}") from None

    def picture(self, alt: str) -> str:
        """Return the picture with this alternative text, as SVG; empty if there is none."""
        image = f"[...document.images].find(image => image.alt.includes({json.dumps(alt)}))"
        source = str(self.page.value(f"{image}?.src ?? ''"))
        return base64.b64decode(source.partition(",")[2]).decode()

    def shows(self, alt: str) -> None:
        """Wait until there is a picture with this alternative text."""
        wait_for(lambda: self.picture(alt) != "", f"a picture of {alt!r}")

    def metric(self, label: str) -> str:
        """Return the number with a label."""
        return str(
            self.page.value(f"""[...document.querySelectorAll('[data-testid=stMetric]')].find(
                each => each.innerText.startsWith({json.dumps(label)}))
                ?.querySelector('[data-testid=stMetricValue]').innerText ?? ''""")
        )

    def reads(self, label: str, number: str) -> None:
        """Wait until the number with a label has a value."""
        wait_for(lambda: self.metric(label) == number, f"{number} below {label!r}")

    def write(self, label: str, text: str) -> None:
        """Write into a text field, and press Enter."""
        self._focus(label)
        self.page.write(text)
        self.page.press("ENTER")
        time.sleep(0.1)  # until the page reacts
        self.settle()

    def choose(self, label: str, option: str) -> None:
        """Select an option of a list."""
        self._focus(label)
        self.page.write(option)
        wanted = f"""[...document.querySelectorAll('[role=option]')].find(
            each => each.innerText.trim() === {json.dumps(option)})"""
        self.until(f"{wanted} !== undefined")
        self.page.value(f"{wanted}.click()")
        self.until("document.querySelector('[role=option]') === null")
        time.sleep(0.1)  # until the page reacts
        self.settle()

    def slide(self, label: str, key: str, times: int = 1) -> None:
        """Move a slider with a key."""
        self._focus(label)
        for _ in range(times):
            self.page.press(key)
        time.sleep(0.3)  # until the page reacts
        self.settle()

    def draw(self, label: str, points: Sequence[tuple[float, float]]) -> None:
        """Draw a line with a finger on a canvas, through points from (0, 0) to (1, 1)."""
        canvas = f"document.querySelector({json.dumps(f'canvas[aria-label={json.dumps(label)}]')})"
        self.until(f"{canvas} !== null")
        left, top, side = self.page.value(f"""(() => {{
            {canvas}.scrollIntoView({{block: 'center'}});
            const box = {canvas}.getBoundingClientRect();
            return [box.left, box.top, box.width]; }})()""")
        self.page.touch([(left + x * side, top + y * side) for x, y in points])
        time.sleep(0.1)  # until the page reacts
        self.settle()

    def press(self, words: str) -> None:
        """Press a button, a tab or a checkbox with this label."""
        found = f"""[...document.querySelectorAll(
            'button, [role=tab], [data-testid=stCheckbox] label'
            )].find(each => each.innerText.trim() === {json.dumps(words)})"""
        self.until(f"{found} !== undefined")
        self.page.value(f"""(() => {{
            const found = {found};
            found.scrollIntoView({{block: 'center'}});
            (found.closest('[data-testid=stCheckbox]')?.querySelector('input') ?? found).click();
            }})()""")
        time.sleep(0.1)  # until the page reacts
        self.settle()

    def _focus(self, label: str) -> None:
        named = f"[aria-label={json.dumps(label)}]"
        field = f"document.querySelector({json.dumps(f'input{named}, textarea{named}')})"
        self.until(f"{field} !== null")
        self.page.value(f"{field}.focus()")
