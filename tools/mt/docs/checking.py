"""Test a reader's solution of a task, with pytest, in the browser.

The student's folder has been unpacked, with the functions of the task left out. Each answer takes
the place of its function, and pytest runs the tests of the task. Test files that import NumPy are
left out where Python has none in the browser, and tests that need processes or threads are skipped.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import sys
import textwrap
import tomllib
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest

UNSUPPORTED = re.compile(r"emscripten does not support|can't start new thread")


class BrowserPlugin:
    """A pytest plugin that deselects tests that a browser cannot run.

    Args:
        files: the names of the test files of the task.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self._files = {*files} - {"test_conformance.py"}  # a kit, which runs on every backend

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Ignore the files of other tasks, and a file that imports NumPy if there is none."""
        if collection_path.suffix != ".py" or collection_path.name == "conftest.py":
            return None
        if collection_path.name not in self._files:
            return True
        text = collection_path.read_text(encoding="utf-8")
        needs_numpy = re.search(r"^(import|from) numpy", text, re.MULTILINE)
        return True if needs_numpy and not importlib.util.find_spec("numpy") else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        """Skip a test that needs processes or threads."""
        try:
            return (yield)
        except (OSError, RuntimeError) as error:
            if UNSUPPORTED.search(str(error)):
                pytest.skip("needs processes or threads")
            raise


def fill(folder: Path, answers: Iterable[tuple[str, str, str]]) -> None:
    """Replace functions in a folder.

    Args:
        folder: the student's folder.
        answers: triples of a file, the text to replace in it, and the replacement, dedented.

    Raises:
        ValueError: a file does not contain the text.
    """
    for name, gap, answer in answers:
        file = folder / name
        text = file.read_text(encoding="utf-8")
        if gap not in text:
            raise ValueError(f"{name} does not contain the function to write.")
        indent = re.match(" *", gap)[0]  # type: ignore[index]
        new = textwrap.indent(answer.rstrip("\n") + "\n", indent)
        file.write_text(text.replace(gap.rstrip("\n") + "\n", new, 1), encoding="utf-8")


def check(folder: str, mark: str, skip: str) -> tuple[bool, str]:
    """Run the tests of a task; return whether all pass, and pytest's output.

    Args:
        folder: the student's folder.
        mark: the mark of the tests.
        skip: an expression of pytest's `-k` for tests to leave out; may be empty.
    """
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "CI": "true", "COLUMNS": "88"}
    os.chdir(folder)
    sys.path.insert(0, f"{folder}/src")
    sys.dont_write_bytecode = True
    marks = tomllib.loads(Path("tests/tasks.toml").read_text(encoding="utf-8"))
    files = marks.get(mark, {})
    chosen = ["-m", mark, *(["-k", f"not ({skip})"] if skip else [])]
    options = ["-q", "--color=no", "--tb=short", "-p", "no:cacheprovider", "--maxfail=3"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = pytest.main([*options, *chosen], plugins=[BrowserPlugin(files)])
    return code == 0, printed.getvalue()
