"""A headless browser, to test how pages look and behave.

Selenium drives any installed Chromium through its driver.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal

from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from mt.errors import ToolError, reported

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Names of Chromium programs; the environment variable MT_BROWSER specifies another."""

DRIVER = "chromedriver"

OPTIONS = (
    "--headless",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-smooth-scrolling",
    "--disable-sync",
    "--no-first-run",
    "--no-sandbox",
)


class BrowserError(ToolError):
    """The browser is missing, or failed."""


def programs() -> tuple[str, str]:
    """Return the paths of a browser and of its driver.

    Raises:
        BrowserError: no browser was found; the message says how to install one.
    """
    names = (os.environ.get("MT_BROWSER", ""), *BROWSERS)
    browser = next(filter(None, (shutil.which(name) for name in names if name)), None)
    driver = shutil.which(DRIVER)
    if browser is None or driver is None:
        raise BrowserError(
            f"no {'browser' if browser is None else DRIVER} found: install Chromium and its driver "
            "(on Debian, `apt-get install chromium chromium-driver`), or set the environment "
            "variable MT_BROWSER to a browser."
        )
    return browser, driver


@contextmanager
def page() -> Iterator[Page]:
    """Start a browser and yield an empty page."""
    browser, driver = programs()
    options = ChromeOptions()
    options.binary_location = browser
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with Chrome(options, Service(driver)) as chrome:
        yield Page(chrome)


class Page:
    """A page of a browser.

    Args:
        chrome: the browser.
    """

    def __init__(self, chrome: Chrome) -> None:
        self._chrome = chrome

    def _send_command(self, command: str, **arguments: Any) -> None:
        """Send a command of the DevTools protocol that Selenium does not wrap."""
        self._chrome.execute_cdp_cmd(command, arguments)

    def _log(self, kind: str) -> list[dict[str, Any]]:
        """Return the log entries since the last call."""
        entries: list[dict[str, Any]] = self._chrome.get_log(kind)  # type: ignore[no-untyped-call]
        return entries

    def open(self, url: str) -> None:
        """Open a page, and wait until it is loaded."""
        self.requests(), self.complaints()  # discard those of the previous page
        try:
            self._chrome.get(url)
        except WebDriverException as error:
            raise BrowserError(f"{url}: {error.msg}") from error

    def requests(self) -> list[str]:
        """Return the URLs requested since the page was opened, or since the last call."""
        entries = (json.loads(entry["message"]) for entry in self._log("performance"))
        return [
            entry["message"]["params"]["request"]["url"]
            for entry in entries
            if entry["message"]["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """Return the console messages since the last call."""
        return [entry["message"] for entry in self._log("browser")]

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        try:
            return self._chrome.execute_script(f"return {expression.strip()}")
        except WebDriverException as error:
            raise BrowserError(f"{expression}: {error.msg}") from error

    def until(self, expression: str, seconds: float = 60.0) -> None:
        """Wait until a JavaScript expression is true.

        Raises:
            TimeoutError: it is still false after this time.
        """
        end = time.monotonic() + seconds
        while not self._holds(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} was not true within {seconds} s")
            time.sleep(0.05)

    def _holds(self, expression: str) -> bool:
        """Return whether an expression is true; it can fail while the page changes."""
        with suppress(BrowserError):
            return bool(self.value(expression))
        return False

    def load(self, script: str) -> None:
        """Run a script in the page, such as a library."""
        self._send_command("Runtime.evaluate", expression=script)

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window, in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._send_command("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, scheme: Literal["light", "dark"]) -> None:
        """Emulate the color scheme of the system."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._send_command("Emulation.setEmulatedMedia", features=[feature])

    def touch(self, points: Sequence[tuple[float, float]]) -> None:
        """Draw a line with a finger, through points in pixels of the viewport."""
        for kind, (x, y) in zip(
            ["touchStart", *["touchMove"] * (len(points) - 1)], points, strict=True
        ):
            self._send_command(
                "Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}]
            )
        self._send_command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


if __name__ == "__main__":
    with reported("browser"):
        print(*programs(), sep="\n")
