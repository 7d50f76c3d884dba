"""A pytest plugin that runs some tests, those most likely to fail first.

    pytest -p mt.mutate.trial --tests FILE

The file has a list of tests, each with its time limit in seconds. A test that exceeds it ends the
process: it has detected a fault that makes a loop infinite. Memory is limited as well, so that a
fault cannot exhaust the machine.
"""

from __future__ import annotations

import faulthandler
import json
import resource
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

MEMORY = 16 * 2**30
"""The limit of the address space, in bytes."""

STARTING = 180
"""The limit of the time until the first test runs, in seconds."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the tests to run."""
    parser.addoption("--tests", metavar="FILE", type=Path)


def pytest_configure(config: pytest.Config) -> None:
    """Set the limits."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.dump_traceback_later(STARTING, exit=True)
    config.pluginmanager.register(Trial(json.loads(config.getoption("--tests").read_text("utf-8"))))


class Trial:
    """Some tests and their limits.

    Args:
        limits: the time limit of each test in seconds, in the order to run them.
    """

    def __init__(self, limits: dict[str, float]) -> None:
        self.limits = limits

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Select these tests, in this order."""
        by_name = {item.nodeid: item for item in items}
        items[:] = [by_name[name] for name in self.limits if name in by_name]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run a test within its limit."""
        faulthandler.dump_traceback_later(self.limits[item.nodeid], exit=True)
        done = yield
        faulthandler.cancel_dump_traceback_later()
        return done
