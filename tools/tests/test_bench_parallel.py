"""`mt bench parallel`: its output for steps on two ranks."""

import importlib.util
import re
import shutil
import sys
from pathlib import Path

import pytest

from mt.bench import command

pytestmark = pytest.mark.mpi


@pytest.fixture(autouse=True)
def _has_mpi() -> None:
    beside = Path(sys.executable).with_name("mpiexec")
    if not importlib.util.find_spec("mpi4py") or not (beside.exists() or shutil.which("mpiexec")):
        pytest.skip("MPI is not installed")


def test_steps_on_two_ranks_are_measured_and_more_are_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "ranks.svg"
    options = ["MLP", "--backend", "numpy", "--steps", "3", "--rounds", "1", "--alone"]
    assert command.main(["parallel", *options, "--picture", str(picture)]) == 0
    told = capsys.readouterr().out
    assert re.search(r"mt_tensor  1 rank\(s\) +[\d.]+ ms a step .* 1.00 times the samples", told)
    assert re.search(r"mt_tensor  2 rank\(s\).* times the samples of one  [\d.]+ % of", told)
    assert re.search(r"the link: [\d.]+ us for a message, [\d.]+ GB a second; 0.78 MB of", told)
    assert re.search(r"checked on 2 rank\(s\): predicted [\d.]+ ms a step, measured [\d.]+;", told)
    assert re.search(r" 1024 rank\(s\)  predicted +[\d.]+ ms a step, \d+ % of it", told)
    assert re.search(r"one batch for all: \d+ ranks take the least time", told)
    assert picture.read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize("pattern", ["LeNet", "no such step"])
def test_one_step_is_named(pattern: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["parallel", pattern, "--alone"])
    assert "of one, please" in capsys.readouterr().err
