"""Inserting a sample does not change the id of any other test."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mt.skeleton.folder import shared

TESTS = """\
import numpy as np
import pytest

SAMPLES = [
    {samples}
]


@pytest.mark.parametrize("sample", SAMPLES)
def test_alone(sample):
    pass


@pytest.mark.parametrize("other", [1, "a"])
@pytest.mark.parametrize(("left", "right"), [(sample, None) for sample in SAMPLES])
def test_with_others(left, right, other):
    pass


@pytest.fixture(params=SAMPLES)
def fixture(request):
    return request.param


def test_of_a_fixture(fixture):
    pass
"""

SAMPLES = [
    "lambda x: x.sum(1)",
    "lambda x: x.sum()",
    "{'dim': 1}",
    "np.zeros((2, 3))",
    "np.float32(1.5)",
    "object()",
    "'a' * 200",
    "(1, [2, 3])",
]


def collected(folder: Path, samples: list[str]) -> subprocess.CompletedProcess[str]:
    (folder / "test_samples.py").write_text(TESTS.format(samples=",\n    ".join(samples)))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def ids(folder: Path, samples: list[str]) -> list[str]:
    done = collected(folder, samples)
    assert done.returncode == 0, done.stdout
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in shared():
        shutil.copy(file, tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nstrict_parametrization_ids = true\n")
    return tmp_path


def test_inserting_a_sample_changes_no_other_id(folder: Path) -> None:
    before = ids(folder, SAMPLES)
    assert len(set(before)) == len(before) == 4 * len(SAMPLES)
    for place in (0, 3):
        after = ids(folder, [*SAMPLES[:place], "lambda x: x.sum(0)", *SAMPLES[place:]])
        assert [each for each in after if "x.sum(0)" not in each] == before
        assert len(after) == len(before) + 4


def test_duplicate_samples_are_a_collection_error(folder: Path) -> None:
    done = collected(folder, ["lambda: 1", "lambda: 1"])
    assert done.returncode != 0
    assert "Duplicates:     1" in done.stdout
