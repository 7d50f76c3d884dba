"""The output of pytest in a student's folder: the progress of each task, and its failures."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mt.skeleton.folder import shared

TO_WRITE = 'raise NotImplementedError("Task 0.{}: {} is not implemented.")'

SOURCE = """\
def one():
    {one}


def two():
    {two}
"""

TESTS = """\
import subprocess
import sys

import pytest

from mt_count import one, two


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_one(times):
    assert one() * times == times


def test_in_another_process():
    command = [sys.executable, "-c", "import mt_count; mt_count.one()"]
    subprocess.run(command, capture_output=True, text=True, check=True)


@pytest.fixture
def number():
    return two()


def test_two(number):
    assert number == 2


def test_both():
    assert one() < two()


def test_nothing():
    assert "one" in dir() or one.__name__ == "one"
"""

MARKS = """\
[task0_1."test_numbers.py"]
test_one = "all"
test_in_another_process = "all"

[task0_2."test_numbers.py"]
test_two = "all"
test_both = "all"
"""

SETTINGS = """\
[pytest]
testpaths = tests
pythonpath = .
addopts = -p no:anyio --import-mode=importlib -ra
markers =
    gpu: none
    torch: none
    task0_1: The first number
    task0_2: The second number
"""


def pytest_in(folder: Path, *arguments: str, one: str = "", two: str = "") -> list[str]:
    """Run pytest in a student's folder, and return its exit status and output.

    Args:
        folder: where it is created.
        *arguments: arguments of pytest.
        one: the student's code instead of the first function.
        two: the student's code instead of the second.
    """
    source = SOURCE.format(
        one=one or TO_WRITE.format(1, "one"), two=two or TO_WRITE.format(2, "two")
    )
    for name, text in {
        "src/mt_count/__init__.py": source,
        "tests/test_numbers.py": TESTS,
        "tests/tasks.toml": MARKS,
        "pytest.ini": SETTINGS,
        "TASKS.md": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for file in shared():
        shutil.copy(file, folder)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return [str(done.returncode), *done.stdout.splitlines(), *done.stderr.splitlines()]


def shown(lines: list[str]) -> list[str]:
    """Return the tests whose failures are shown, by their headings."""
    return [line.strip("_ ") for line in lines if re.fullmatch(r"_+ test_\S+ _+", line)]


def progress(lines: list[str]) -> list[str]:
    """Return the lines on tasks, without repeated spaces."""
    start = next(number for number, line in enumerate(lines) if re.fullmatch("=+ tasks =+", line))
    return [re.sub(" {2,}", "  ", line) for line in lines[start + 1 : -1] if line]


ALL_OF_ONE = ["test_one[1]", "test_one[2]", "test_one[3]", "test_one[4]", "test_in_another_process"]
WRONG = "return 1 if False else 7"


@pytest.mark.parametrize(
    ("written", "arguments", "failures", "expected"),
    [
        (
            {},
            [],
            [],
            [
                "0.1  to do, 5 tests  The first number",
                "0.2  to do, 2 tests  The second number",
                "Its tests wait for one (5).",
                "Next: pytest -m task0_1",
            ],
        ),
        (
            {"one": "return 1"},
            [],
            [],
            [
                "0.1  done  The first number",
                "0.2  to do, 2 tests  The second number",
                "Its tests wait for two (2).",
                "Next: pytest -m task0_2",
            ],
        ),
        (
            {"two": "return 2"},
            [],
            [],
            [
                "0.1  to do, 5 tests  The first number",
                "0.2  1 of 2  The second number",
                "Its tests wait for one (5).",
                "Next: pytest -m task0_1",
            ],
        ),
        (
            {"one": WRONG, "two": WRONG},
            [],
            ALL_OF_ONE[:3],
            [
                "0.1  1 of 5, 4 fail  The first number",
                "0.2  0 of 2, 2 fail  The second number",
                "3 more failures are not shown. Next: pytest -m task0_1",
            ],
        ),
        (
            {"one": WRONG, "two": WRONG},
            ["-m", "task0_1"],
            ALL_OF_ONE[:4],
            ["0.1  1 of 5, 4 fail  The first number"],
        ),
        (
            {"two": WRONG},
            ["-m", "task0_2"],
            ["test_two"],
            ["0.2  0 of 2, 1 fail  The second number", "Its tests wait for one (1)."],
        ),
        (
            {"one": "return 1"},
            ["-k", "test_one"],
            [],
            ["0.1  4 of 4 pass  The first number"],
        ),
        (
            {"one": "return 1", "two": "return 2"},
            [],
            [],
            ["0.1  done  The first number", "0.2  done  The second number"],
        ),
        (
            {"one": "return 1", "two": "return 2"},
            ["-n", "2"],
            [],
            ["0.1  done  The first number", "0.2  done  The second number"],
        ),
    ],
    ids=[
        "nothing",
        "first",
        "second",
        "wrong",
        "wrong one",
        "wrong two",
        "some",
        "done",
        "workers",
    ],
)
def test_output_shows_progress_of_tasks_and_first_failures(
    written: dict[str, str],
    arguments: list[str],
    failures: list[str],
    expected: list[str],
    tmp_path: Path,
) -> None:
    status, *lines = pytest_in(tmp_path, *arguments, **written)
    assert progress(lines) == expected
    assert shown(lines) == failures
    listed = [line.partition(" - ")[0] for line in lines if line.startswith("FAILED")]
    assert listed == [f"FAILED tests/test_numbers.py::{test}" for test in failures]
    assert status == ("0" if all("done" in line or "pass " in line for line in expected) else "1")


def test_last_line_counts_waiting_tests_and_hidden_failures(
    tmp_path: Path,
) -> None:
    assert "1 passed, 7 waiting in" in pytest_in(tmp_path)[-1]
    assert "6 failed, 2 passed in" in pytest_in(tmp_path, one=WRONG, two=WRONG)[-1]


def test_failing_test_without_a_task_is_reported(tmp_path: Path) -> None:
    lines = pytest_in(tmp_path, one="return 1", two="return 2\n\n\none = 1")
    assert progress(lines)[:2] == [
        "Failed tests that belong to no task, and passed in the original folder: 1",
        "0.1  0 of 5, 5 fail  The first number",
    ]
    assert shown(lines) == [*ALL_OF_ONE[:3], "test_nothing"]


def test_error_in_a_subprocess_is_shown(tmp_path: Path) -> None:
    lines = pytest_in(tmp_path, "-k", "process", one="return {}[3]")
    assert "KeyError: 3" in lines


@pytest.mark.parametrize("arguments", [[], ["-n", "2"]])
def test_syntax_error_is_reported_in_one_line(arguments: list[str], tmp_path: Path) -> None:
    status, *lines = pytest_in(tmp_path, *arguments, one="return (")
    assert status == str(int(pytest.ExitCode.USAGE_ERROR))
    assert [line for line in lines if line] == [
        "ERROR: src/mt_count/__init__.py:2: '(' was never closed"
    ]
