"""The options of a campaign, the programs to run, and the summary.

Each program is a test. In the ordinary test run, without options, a few programs are compared with
torch, and a few compiled ones with eager execution.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import pytest

from differential.reporting import ORACLES, summary

PROGRAMS = 200
"""The number of programs without the option."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; pytest accepts them if its arguments are in this folder."""
    group = parser.getgroup("differential", "random programs, compared with torch")
    group.addoption("--programs", type=int, metavar="N", help=f"number of programs ({PROGRAMS})")
    group.addoption("--seed", type=int, default=1, metavar="N", help="seed of the programs (1)")
    group.addoption("--only", type=int, metavar="N", help="print and run the program number N")
    group.addoption("--backend", default="numpy", metavar="NAME", help="backend (numpy)")
    group.addoption(
        "--compile", action="store_true", help="compare compiled with eager execution instead"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Print the output of a program that is selected by its number even if it passes."""
    if config.getoption("only", None) is not None:
        config.option.reportchars += "P"


@pytest.fixture(scope="session")
def torch() -> Any:
    """The library to compare with; tests are skipped if it is not installed."""
    return pytest.importorskip("torch")


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that compare with torch."""
    for item in items:
        if "torch" in getattr(item, "fixturenames", ()):
            item.add_marker("torch")


@pytest.fixture(scope="session")
def backend(pytestconfig: pytest.Config) -> str:
    """The backend to test."""
    return str(pytestconfig.getoption("backend", "numpy"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give the test of programs an oracle, and the seed and the number of each program."""
    if "oracle" not in metafunc.fixturenames:
        return
    programs, seed, only, compiled = (
        metafunc.config.getoption(name, default)
        for name, default in (("programs", None), ("seed", 1), ("only", None), ("compile", False))
    )
    numbers = range(programs or PROGRAMS) if only is None else range(only, only + 1)
    rows = [("eager", seed, number) for number in numbers]
    is_campaign = programs is not None or only is not None
    if not compiled:
        rows = [*_with_torch(seed, numbers), *([] if is_campaign else rows)]
    metafunc.parametrize(("oracle", "seed", "number"), rows)


def _with_torch(seed: int, numbers: Sequence[int]) -> list[Any]:
    """Return the programs to compare with torch, or a single skipped one without it."""
    if find_spec("torch") is not None:
        return [("torch", seed, number) for number in numbers]
    skipped = pytest.mark.skip(reason="torch is not installed")
    return [pytest.param("torch", seed, numbers[0], marks=skipped)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line about all programs; with `-v`, how often each known difference occurred."""
    config = terminalreporter.config
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    properties = [dict(report.user_properties).get("program") for report in reports]
    for oracle in ORACLES:
        programs = [each for each in properties if each and each["oracle"] == oracle]
        if programs:
            terminalreporter.section(f"random programs, compared with {oracle}")
            for line in summary(programs, details=config.get_verbosity() > 0):
                terminalreporter.write_line(line)
