"""Options of the conformance kit: invalid ones are reported in one line, before collection."""

import pytest

from mt_tensor.backends.listing import BUILT_IN
from mt_tensor.core import registry

pytest_plugins = ["pytester"]

REGISTERED = """
from mt_tensor import register_backend
from mt_tensor.errors import BackendUnavailableError


def broken():
    raise ImportError("no module of that name")


def unavailable():
    raise BackendUnavailableError("there is no such device here.")


register_backend("broken", broken)
register_backend("unavailable", unavailable)
register_backend("none", lambda: None)
"""

TEST_FILE = "test_nothing.py"
"""A file that is never collected, because the options are checked first."""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--mt-backend", "brokn"],
            "--mt-backend brokn: no backend is called 'brokn'. Did you mean 'broken'? "
            "Installed: broken, *numpy, *simple, unavailable. Install *",
        ),
        (["--mt-backend", ""], "--mt-backend : no backend is called ''. Installed: broken, *"),
        (
            ["--mt-backend", "broken"],
            "--mt-backend broken: backend 'broken' registered in code could not be loaded "
            "(ImportError: no module of that name). Fix *",
        ),
        (["--mt-backend", "unavailable"], "--mt-backend unavailable: there is no such device *"),
        (["--mt-backend", "none"], "*(its factory returned None, which is not a *"),
        (["--mt-report", "."], "--mt-report .: Is a directory."),
        (["--mt-report", "conftest.py/report"], "--mt-report conftest.py/report: *"),
    ],
    ids=["unknown", "empty", "broken", "unavailable", "none", "folder", "below a file"],
)
def test_invalid_option_is_reported_in_one_line(pytester, monkeypatch, arguments, message):
    built_in = {name: registry.FACTORIES[name] for name in BUILT_IN}
    # Hide the backends that other tests have registered.
    monkeypatch.setattr(registry, "FACTORIES", built_in)
    pytester.makeconftest(REGISTERED)
    pytester.makepyfile(test_nothing="raise AssertionError('collected')")
    run = pytester.runpytest("-p", "no:cacheprovider", *arguments, TEST_FILE)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in [*run.outlines, *run.errlines] if line]
    assert len(lines) == 1
    run.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_invalid_option_is_reported_once_with_several_processes(pytester):
    arguments = ["--pyargs", "mt_tensor.conformance", "--mt-backend", "torchbak", "-n", "2"]
    run = pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert run.outlines == []
    run.stderr.fnmatch_lines(["ERROR: --mt-backend torchbak: no backend is called 'torchbak'.*"])
