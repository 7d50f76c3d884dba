"""A pytest plugin that records the outcome of each test.

    pytest -p mt.skeleton.recording --record FOLDER [--only FILE]

The plugin writes `collected.json`, with all tests and the files that cannot be collected, and
`outcomes.json`. With several processes, the first writes the collection: all collect the same, and
pytest-xdist passes on only one of several files that are skipped for the same reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for the output folder and the tests to run."""
    parser.addoption("--record", metavar="FOLDER", help="the folder for the outcomes")
    parser.addoption("--only", metavar="FILE", help="a JSON list of the only tests to run")


def pytest_configure(config: pytest.Config) -> None:
    """Start recording."""
    config.pluginmanager.register(Recording(config))


class Recording:
    """The outcomes of the tests so far.

    Args:
        config: pytest's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.folder = Path(config.getoption("--record"))
        worker = getattr(config, "workerinput", None)
        self.reports = worker is None  # the controller, or the only process
        self.collects = worker is None or worker["workerid"] == "gw0"
        only = config.getoption("--only")
        self.only = None if only is None else set(json.loads(Path(only).read_text("utf-8")))
        self.outcomes: dict[str, str] = {}
        self.broken: dict[str, str] = {}
        self.skipped_files: list[str] = []

    def _write(self, name: str, content: Any) -> None:
        (self.folder / name).write_text(json.dumps(content), encoding="utf-8")

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Write the collected tests, and deselect those that are not requested."""
        if self.collects:
            tests = {item.nodeid: _marks(item) for item in items}
            files = {"broken": self.broken, "skipped_files": self.skipped_files}
            self._write("collected.json", {"collected": tests, **files})
        if self.only is not None:
            config.hook.pytest_deselected(items=[i for i in items if i.nodeid not in self.only])
            items[:] = [item for item in items if item.nodeid in self.only]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record files that cannot be collected, or are skipped."""
        if report.failed:
            self.broken[report.nodeid] = _last_line(report)
        elif report.skipped:
            self.skipped_files.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of a test: it fails if any of its phases fails."""
        before = self.outcomes.get(report.nodeid, "passed")
        if before == "passed":
            self.outcomes[report.nodeid] = report.outcome
        if report.failed:
            self.outcomes[report.nodeid] = "failed"

    def pytest_sessionfinish(self) -> None:
        """Write the outcomes."""
        if self.reports:
            self._write("outcomes.json", self.outcomes)


def _marks(item: pytest.Item) -> list[str]:
    marks: Iterable[pytest.Mark] = item.iter_markers()
    return sorted({mark.name for mark in marks})


def _last_line(report: pytest.CollectReport) -> str:
    """Return the last line of the error."""
    lines = [line for line in str(report.longrepr).splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
