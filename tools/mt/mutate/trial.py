"""A pytest plugin that runs some tests, in the order in which they are likely to fail.

    pytest -p mt.mutate.trial --tests FILE

The file holds a list of tests, each with the seconds that it may take. One that takes longer ends
the process: a fault that makes a loop endless has been noticed. The process may take so much memory
and no more, or a fault could take the machine down.
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
"""How many bytes of addresses a process may have."""

STARTING = 180
"""How many seconds may pass until the first test runs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option: which tests to run."""
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
        limits: the seconds that each test may take, in the order in which they are to run.
    """

    def __init__(self, limits: dict[str, float]) -> None:
        self.limits = limits

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave these tests only, in this order."""
        by_name = {item.nodeid: item for item in items}
        items[:] = [by_name[name] for name in self.limits if name in by_name]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run a test within its limit."""
        faulthandler.dump_traceback_later(self.limits[item.nodeid], exit=True)
        done = yield
        faulthandler.cancel_dump_traceback_later()
        return done
