"""The playground for tests: a server of their own, and a reader who uses its pages in a browser."""

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

from mt.site.browser import BrowserError, Page

PATIENCE = 60.0
"""For how many seconds something is waited for that should come at once."""

READY = """(() => {
    const app = document.querySelector('[data-testid=stApp]');
    return app?.dataset.testScriptState === 'notRunning'
        && app.dataset.testConnectionState === 'CONNECTED'
        && document.querySelector('[data-testid=stMain] h1') !== null
        && document.querySelector('[data-stale=true]') === null; })()"""
"""Whether the page is there, and shows what the reader has asked for last."""


@contextmanager
def served(**environment: str) -> Iterator[str]:
    """Start the playground on a free port, and yield its address; stop it at the end.

    Args:
        **environment: variables that it finds besides those of this process.
    """
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    address = f"http://localhost:{port}"
    command = [sys.executable, "-m", "play", f"--port={port}"]
    # Its files are not watched: they stay as they are.
    settings = {"STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none", **environment}
    server = subprocess.Popen(command, env={**os.environ, **settings})
    try:
        wait_for(lambda: answers(address), f"the server at {address}")
        yield address
    finally:
        server.terminate()
        server.wait()


def answers(address: str) -> bool:
    """Whether the server is there and well."""
    with suppress(URLError), urllib.request.urlopen(f"{address}/_stcore/health") as reply:
        return bool(reply.read() == b"ok")
    return False


def wait_for(asked: Any, what: str) -> None:
    """Ask until the answer is yes.

    Raises:
        TimeoutError: it is not after a long while.
    """
    end = time.monotonic() + PATIENCE
    while not asked():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not come.")
        time.sleep(0.03)


class Reader:
    """Somebody who uses the playground: opens pages, sets what can be set, and looks.

    What can be set is called by its label.

    Args:
        page: of a browser in which scripts run.
        address: of the server.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    def open(self, path: str) -> None:
        """Open a page of the playground, and wait until it is there."""
        self.page.open(f"{self.address}/{path}")
        self.settle()

    def settle(self) -> None:
        """Wait until the page shows what was asked for last."""
        wait_for(lambda: self.holds(READY), "a page at rest")

    def holds(self, expression: str) -> bool:
        """Whether an expression of JavaScript is true in the page."""
        with suppress(BrowserError):  # between two states of the page there is nothing to ask
            return bool(self.page.value(expression))
        return False

    def until(self, expression: str) -> None:
        """Wait until an expression of JavaScript is true in the page."""
        wait_for(lambda: self.holds(expression), expression)

    def text(self, selector: str = "[data-testid=stMain]") -> str:
        """Return the text that is seen in a part of the page."""
        found = f"document.querySelector({json.dumps(selector)})"
        return str(self.page.value(f"{found}?.innerText ?? ''"))

    def sees(self, text: str, selector: str = "[data-testid=stMain]") -> None:
        """Wait until a text is seen in a part of the page."""
        try:
            wait_for(lambda: text in self.text(selector), repr(text))
        except TimeoutError as error:
            raise TimeoutError(f"{error} This is there: {self.text(selector)!r}") from None

    def picture(self, alt: str) -> str:
        """Return the picture of stages that a screen reader calls so, as SVG; empty if none is."""
        image = f"[...document.images].find(image => image.alt.includes({json.dumps(alt)}))"
        source = str(self.page.value(f"{image}?.src ?? ''"))
        return base64.b64decode(source.partition(",")[2]).decode()

    def shows(self, alt: str) -> None:
        """Wait until there is a picture that a screen reader calls so."""
        wait_for(lambda: self.picture(alt) != "", f"a picture of {alt!r}")

    def metric(self, label: str) -> str:
        """Return the number below a label."""
        return str(
            self.page.value(f"""[...document.querySelectorAll('[data-testid=stMetric]')].find(
                each => each.innerText.startsWith({json.dumps(label)}))
                ?.querySelector('[data-testid=stMetricValue]').innerText ?? ''""")
        )

    def reads(self, label: str, number: str) -> None:
        """Wait until a number is seen below a label."""
        wait_for(lambda: self.metric(label) == number, f"{number} below {label!r}")

    def write(self, label: str, text: str) -> None:
        """Write into a field, and press Enter."""
        self._focus(label)
        self.page.write(text)
        self.page.press("ENTER")
        time.sleep(0.1)  # until the page knows
        self.settle()

    def choose(self, label: str, option: str) -> None:
        """Choose from a list."""
        self._focus(label)
        self.page.write(option)
        wanted = f"""[...document.querySelectorAll('[role=option]')].find(
            each => each.innerText.trim() === {json.dumps(option)})"""
        self.until(f"{wanted} !== undefined")
        self.page.value(f"{wanted}.click()")
        self.until("document.querySelector('[role=option]') === null")
        time.sleep(0.1)  # until the page knows
        self.settle()

    def slide(self, label: str, key: str, times: int = 1) -> None:
        """Move a slider by a key."""
        self._focus(label)
        for _ in range(times):
            self.page.press(key)
        time.sleep(0.3)  # until the page knows
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
        time.sleep(0.1)  # until the page knows
        self.settle()

    def press(self, words: str) -> None:
        """Press a button, a tab or a choice with these words."""
        found = f"""[...document.querySelectorAll(
            'button, [role=tab], [data-testid=stCheckbox] label'
            )].find(each => each.innerText.trim() === {json.dumps(words)})"""
        self.until(f"{found} !== undefined")
        self.page.value(f"""(() => {{
            const found = {found};
            found.scrollIntoView({{block: 'center'}});
            (found.closest('[data-testid=stCheckbox]')?.querySelector('input') ?? found).click();
            }})()""")
        time.sleep(0.1)  # until the page knows
        self.settle()

    def _focus(self, label: str) -> None:
        named = f"[aria-label={json.dumps(label)}]"
        field = f"document.querySelector({json.dumps(f'input{named}, textarea{named}')})"
        self.until(f"{field} !== null")
        self.page.value(f"{field}.focus()")
