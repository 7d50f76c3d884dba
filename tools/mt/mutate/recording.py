"""A pytest plugin that records the lines each test executes, and the functions it compiles.

    pytest -p mt.mutate.recording --record FOLDER --lines-of SOURCE

Each process of pytest writes a file of coverage.py, with the names of tests as contexts, and a file
`*.json` with the duration of each test, the tests that failed, those that started programs, and
the lines of functions that Numba compiled for each test. Coverage does not see compiled code, and
a function is compiled only once: the first test that needs it is recorded for all later ones.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from coverage import Coverage

PROGRAMS = {"os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"}
"""The audit events for starting a process."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for the output folder and the source folder."""
    parser.addoption("--record", metavar="FOLDER", type=Path)
    parser.addoption("--lines-of", metavar="SOURCE", type=Path)


def pytest_configure(config: pytest.Config) -> None:
    """Start recording, except in the controller of pytest-xdist."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        folder, source = config.getoption("--record"), config.getoption("--lines-of")
        config.pluginmanager.register(Recording(folder, source, config.rootpath))


class Recording:
    """The record of the tests of this process.

    Args:
        folder: the output folder.
        source: the folder whose lines are recorded.
        root: the folder that paths are relative to.
    """

    def __init__(self, folder: Path, source: Path, root: Path) -> None:
        self.file = folder / str(os.getpid())
        self.source = source
        self.root = root
        self.test = ""
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()
        self.starting: set[str] = set()
        self.compiled: dict[str, dict[int, list[str]]] = {}
        self.listens = False
        self.coverage = Coverage(
            data_file=f"{self.file}.coverage", source=[str(source)], config_file=False
        )
        self.coverage.set_option("run:relative_files", True)
        self.coverage.set_option("run:disable_warnings", ["no-data-collected", "already-imported"])

    def pytest_sessionstart(self) -> None:
        """Start measuring coverage, and listen for programs that are started."""
        self.coverage.start()
        sys.addaudithook(self._event)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Attribute executed lines to a test."""
        if not self.listens and "numba" in sys.modules:
            self._listen()
        self.test = item.nodeid
        self.coverage.switch_context(self.test)
        done = yield
        self.test = ""
        self.coverage.switch_context("")
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the duration and failure of a test; skipped tests are left out."""
        if report.skipped:
            self.seconds.pop(report.nodeid, None)
        elif report.when != "teardown" or report.nodeid in self.seconds:
            self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the record."""
        self.coverage.stop()
        self.coverage.save()
        noted = {
            "seconds": self.seconds,
            "failed": sorted(self.failed),
            "starting": sorted(self.starting),
            "compiled": self.compiled,
        }
        self.file.with_suffix(".json").write_text(json.dumps(noted), encoding="utf-8")

    def _event(self, event: str, _arguments: tuple[Any, ...]) -> None:
        if event in PROGRAMS and self.test:
            self.starting.add(self.test)

    def _listen(self) -> None:
        """Listen for compilations by Numba."""
        from numba.core import event

        recording = self

        class Compiling(event.Listener):
            def on_start(self, event: Any) -> None:
                recording.compiles(event.data["dispatcher"].py_func.__code__)

            def on_end(self, event: Any) -> None:
                """Ignore the end of a compilation."""

        event.register("numba:compile", Compiling())  # type: ignore[no-untyped-call]
        self.listens = True

    def compiles(self, code: CodeType) -> None:
        """Record that a function is compiled for the current test."""
        file = Path(code.co_filename)
        if self.test and file.is_relative_to(self.source):
            lines = self.compiled.setdefault(file.relative_to(self.root).as_posix(), {})
            for line in set(_lines(code)):
                tests = lines.setdefault(line, [])
                if self.test not in tests:
                    tests.append(self.test)


def _lines(code: CodeType) -> Iterator[int]:
    """Yield the lines of a function, and of its inner functions."""
    for _, _, line in code.co_lines():
        if line is not None:
            yield line
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)
