"""Settings that the tests of every package share.

A test may skip itself where something optional is missing, and a run in which everything was
skipped looks green. Where the environment variable `MT_FORBID_SKIPS` is set, a skipped test is a
failure instead, unless it is marked `gpu`. The isolated environment of mt-cuda sets the variable:
kernels that never run on a GPU there must at least be simulated and compiled.

Hypothesis has no deadline, because times depend on what else the machine does. If the environment
variable `CI` is set, it draws the same examples in every run, so that results depend only on the
code, and half as many, because repeated examples find nothing new; otherwise it draws new examples.
The profile `repeatable` does not shrink failing examples, which would take long where tests are
expected to fail. `brief` has few examples, for tests that only show whether something is missing.

The plugin `tools/task_marks.py` gives tests the marks of the course's tasks, and
`tools/torch_marks.py` gives the mark `torch` to those that compare with torch. These plugins are
found wherever pytest is started, as for the conformance kit of an editable package. In a student's
folder `tools/task_progress.py` reports the progress of each task.

The report begins with the versions of the libraries that arrays and kernels depend on.
"""

import gc
import os
import sys
from collections.abc import Generator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import Phase, settings

sys.path.append(str(Path(__file__).with_name("tools")))
pytest_plugins = ["task_marks", "task_progress", "torch_marks"]

# Hundreds of tests start a process, each of which would compile all imported modules otherwise.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if os.cpu_count() == 1 or (hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) == 1):
    os.environ.setdefault("NUMBA_NUM_THREADS", "2")

# Workers of pytest-xdist share the processors: a matrix product uses one thread, and an OpenMP
# thread that waits yields its processor.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

settings.register_profile("new examples", deadline=None)
settings.register_profile("same examples", deadline=None, derandomize=True, max_examples=50)
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate)
)
settings.register_profile("brief", settings.get_profile("repeatable"), max_examples=10)
settings.load_profile("same examples" if os.environ.get("CI") else "new examples")

FORBIDDEN = os.environ.get("MT_FORBID_SKIPS", "") not in {"", "0"}

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def _forbid(report: Report) -> Report:
    if FORBIDDEN and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but MT_FORBID_SKIPS is set: {report.longrepr}"
    return report


def pytest_report_header() -> str:
    """Return a line with the versions of NumPy and Numba."""
    installed = []
    for name in ("numpy", "numba"):
        with suppress(metadata.PackageNotFoundError):
            installed.append(f"{name} {metadata.version(name)}")
    return f"libraries: {', '.join(installed) or 'none'}"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from traversing the tests, a million objects, again and again.

    In the browser, several runs share a process, and Hypothesis warns if it imports NumPy in a
    later one, since it does not find references from frozen objects.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        if sys.platform != "emscripten":
            gc.freeze()
        gc.enable()


def pytest_make_parametrize_id(val: object) -> str:
    """Name parameters by their content, so that a new row changes no id of another row."""
    from mt_operators.testing.ids import sample_id

    return sample_id(val)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failure where skipping is forbidden."""
    report = yield
    return report if item.get_closest_marker("gpu") else _forbid(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a skipped test module into a failure where skipping is forbidden."""
    report = yield
    return _forbid(report)
