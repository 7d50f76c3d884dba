"""A pytest plugin for a student's folder, which prints the progress of each task.

A test that reaches a function that is not implemented is *waiting*, and pytest prints only a letter
for it. Code that is implemented and wrong fails as usual. A run of all tests shows only the first
failures of the first task that has any, because later tasks depend on it; a run of selected tests,
`pytest -m task1_2`, shows each failure.

This module is copied into a student's folder with the tests. Anywhere else it does nothing.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HERE = Path(__file__).parent

WAITS = re.compile(r"NotImplementedError: Task [\d.]+: (\S+) is not implemented")
"""The error of a test that needs a function which is not implemented."""

SHOWN = 3
"""The number of failures of a task to show in a run of all tests."""

WAITING = "waiting"


IS_STUDENTS = (HERE / "TASKS.md").is_file()
"""Whether this module is in a student's folder."""


def pytest_configure(config: pytest.Config) -> None:
    """Record the progress, if the student's files are valid Python.

    Raises:
        pytest.UsageError: one of them is not.
    """
    if not IS_STUDENTS:
        return
    for file in sorted((HERE / "src").rglob("*.py")):
        try:
            compile(file.read_bytes(), file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
            raise pytest.UsageError(f"{file.relative_to(HERE)}{line}: {error.args[0]}") from error
    if not hasattr(config, "workerinput"):  # the controller, or the only process
        config.pluginmanager.register(Progress(config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the stderr of a child process to a test that fails because the process failed."""
    report = yield
    error = call.excinfo and call.excinfo.value
    if IS_STUDENTS and isinstance(error, subprocess.CalledProcessError) and error.stderr:
        report.sections.append(("Output of the command", str(error.stderr)))
    return report


@dataclass
class Tally:
    """The outcomes of the tests of one task.

    Attributes:
        passed: the number of tests that passed.
        failed: the tests that failed.
        waits: by function that is not implemented, the number of tests waiting for it.
    """

    passed: int = 0
    failed: list[pytest.TestReport] = field(default_factory=list)
    waits: Counter[str] = field(default_factory=Counter)

    def state(self, whole: bool) -> str:
        """Describe the progress of the task.

        Args:
            whole: whether all of its tests were run.
        """
        waiting = self.waits.total()
        count = self.passed + len(self.failed) + waiting
        if self.passed == count:
            return "done" if whole else f"{count} of {count} pass"
        if waiting == count:
            return f"to do, {count} test{'s' if count > 1 else ''}"
        failed = f", {len(self.failed)} fail" if self.failed else ""
        return f"{self.passed} of {count}{failed}"


class Progress:
    """Count the outcomes of the tests of each task, and print them.

    Args:
        config: pytest's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        marks = (line.partition(": ") for line in config.getini("markers"))
        self.titles = {mark: title for mark, _, title in marks if mark.startswith("task")}
        self.tallies: dict[str, Tally] = {mark: Tally() for mark in ["", *self.titles]}
        chosen = config.getoption("markexpr")
        self.all_of_each = (
            config.args_source is pytest.Config.ArgsSource.TESTPATHS
            and not config.getoption("keyword")
            and not config.getoption("lf", False)
            and chosen in {"", *self.titles}
        )
        self.everything = self.all_of_each and not chosen

    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Report waiting tests in a separate category."""
        if isinstance(report, pytest.TestReport) and report.failed and waited_for(report):
            return WAITING, "w", ("WAITING", {"yellow": True})
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test."""
        tally = self.tallies[self._mark(report)]
        name = waited_for(report) if report.failed else None
        if name:
            tally.waits[name] += 1
        elif report.failed:
            tally.failed.append(report)
        elif report.passed and report.when == "call":
            tally.passed += 1

    def _mark(self, report: pytest.TestReport) -> str:
        return next((mark for mark in self.titles if mark in report.keywords), "")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, None, None]:
        """Show only the relevant failures, and print the progress of each task."""
        stats = terminalreporter.stats
        shown = self._shown() if self.everything else None
        kinds = {kind: stats.get(kind, []) for kind in ("failed", "error")}
        for kind, reports in kinds.items():
            stats[kind] = [each for each in reports if shown is None or each in shown]
        try:
            yield
        finally:
            for kind, reports in kinds.items():
                stats[kind] = reports
        hidden = sum(len(tally.failed) for tally in self.tallies.values()) - len(shown or [])
        self._print(terminalreporter, hidden if shown is not None else 0)

    def _shown(self) -> list[object]:
        """Return the failures of tests without a task, and the first failures of one task."""
        others, *tasks = self.tallies.values()
        at_hand = next((tally.failed for tally in tasks if tally.failed), [])
        return [*others.failed, *at_hand[:SHOWN]]

    def _print(self, terminal: pytest.TerminalReporter, hidden: int) -> None:
        terminal.section("tasks")
        others = self.tallies[""]
        if others.failed:
            terminal.write_line(
                "Failed tests that belong to no task, and passed in the original folder: "
                f"{len(others.failed)}",
                red=True,
            )
        tallies = {mark: tally for mark, tally in self.tallies.items() if mark and tally != Tally()}
        for mark, tally in tallies.items():
            number = mark.removeprefix("task").replace("_", ".")
            line = f"{number}  {tally.state(self.all_of_each):20}  {self.titles[mark]}"
            terminal.write_line(line, red=bool(tally.failed), green=not tally.waits)
        self._print_next(terminal, tallies, hidden)

    def _print_next(
        self, terminal: pytest.TerminalReporter, tallies: dict[str, Tally], hidden: int
    ) -> None:
        """Print what the first unfinished task waits for, and how to see more of it."""
        for mark, tally in tallies.items():
            if tally.waits:
                names = ", ".join(f"{name} ({count})" for name, count in tally.waits.most_common())
                terminal.write_line(f"Its tests wait for {names}.")
            if tally.waits or tally.failed:
                if self.everything:
                    more = f"{hidden} more failures are not shown. " if hidden else ""
                    terminal.write_line(f"{more}Next: pytest -m {mark}")
                return


def waited_for(report: pytest.TestReport) -> str | None:
    """Return the unimplemented function that a failed test needs; None for other failures."""
    texts: Iterable[str] = (report.longreprtext, *(text for _, text in report.sections))
    found = next(filter(None, map(WAITS.search, texts)), None)
    return found and found[1]
