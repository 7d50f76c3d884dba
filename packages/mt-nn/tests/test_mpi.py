"""Training on ranks that MPI starts: `hatch run mpi:test`."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import mt_nn as nn
from mt_nn import Checkpoints, load_checkpoint
from mt_tensor.backends import backends

pytestmark = pytest.mark.mpi

PROGRAMS = Path(__file__).with_name("programs")
BACKENDS = [name for name in ("numpy", "fast") if name in backends()]


class Result(NamedTuple):
    """Exit status and output of a program."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def mpiexec() -> str:
    pytest.importorskip("mpi4py")
    path = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if path is None:
        pytest.skip("mpiexec is not installed")
    return path


def start(
    mpiexec: str,
    size: int,
    *arguments: str,
    program: str = "ranks.py",
    timeout: float = 60.0,
    **variables: str,
) -> subprocess.Popen[str]:
    """Start a program on `size` ranks."""
    command = [mpiexec, "-n", str(size), sys.executable, str(PROGRAMS / program), *arguments]
    environment = {
        **os.environ,
        **variables,
        "MT_RANK_TIMEOUT": str(timeout),
        "NUMBA_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)


def run_on_ranks(mpiexec: str, size: int, *arguments: str, **options: Any) -> Result:
    """Run a program on `size` ranks; see `start`."""
    with start(mpiexec, size, *arguments, **options) as running:
        try:
            output = running.communicate(timeout=120)
        finally:
            running.kill()
    return Result(running.returncode, *output)


@pytest.mark.parametrize("backend", BACKENDS)
def test_training_on_ranks_matches_one_rank(mpiexec: str, backend: str) -> None:
    results: list[dict[str, Any]] = []
    for size in (1, 2, 4):
        result = run_on_ranks(mpiexec, size, "train", backend)
        assert result.returncode == 0, result.stderr
        results.append(json.loads(result.stdout))
    assert [each["size"] for each in results] == [1, 2, 4]
    for each in results:
        assert each["losses"] == pytest.approx(results[0]["losses"], rel=1e-9)
        assert each["weights"] == pytest.approx(results[0]["weights"], rel=1e-6)


MESSAGES = {
    "raises": r"rank 1 \(.*\) raised ValueError: no such thing after operation 5, gradients",
    "ends": r"rank [02] \(.*\) has waited 3 s for other ranks in operation 6, gradients of step 4",
    "other": r"rank \d \(.*\) has waited 3 s for other ranks in operation 6, (gradients|losses)",
    "stopped": r"rank [02] \(.*\) has waited 3 s for other ranks in operation [56], gradients",
    "asleep": r"rank [02] \(.*\) has waited 3 s for other ranks in operation 6, gradients",
}


@pytest.mark.parametrize("fault", MESSAGES)
def test_failing_rank_ends_all_ranks_with_a_message(mpiexec: str, fault: str) -> None:
    began = time.monotonic()
    result = run_on_ranks(mpiexec, 3, fault, timeout=3.0)
    assert time.monotonic() - began < 20  # most of this time is spent on imports
    assert result.returncode != 0
    messages = [line for line in result.stderr.splitlines() if line.startswith("mt_nn.parallel: ")]
    assert messages, result.stderr
    assert all(re.search(MESSAGES[fault], line) for line in messages), messages


def test_killed_rank_ends_all_ranks(mpiexec: str) -> None:
    began = time.monotonic()
    assert run_on_ranks(mpiexec, 3, "killed").returncode != 0
    assert time.monotonic() - began < 20


def test_full_disk_ends_all_ranks_and_keeps_complete_checkpoints(
    mpiexec: str, tmp_path: Path
) -> None:
    result = run_on_ranks(mpiexec, 2, "full", str(tmp_path))
    assert result.returncode != 0
    messages = [line for line in result.stderr.splitlines() if line.startswith("mt_nn.parallel: ")]
    assert len(messages) == 1, result.stderr
    assert re.search(r"rank 0 \(.*\) raised FileError: .*step-00000003.*too large", messages[0])
    steps = [path.name for path in Checkpoints(tmp_path).paths()]
    assert steps == ["step-00000001.safetensors", "step-00000002.safetensors"]
    network = nn.Linear(100, 10)
    load_checkpoint(tmp_path / steps[-1], model=network)
    assert sorted(path.name for path in tmp_path.iterdir()) == steps  # and no partial files


@pytest.mark.parametrize(
    ("argument", "pattern", "code"),
    [
        ("--help", r"^usage: mt-train", 0),
        ("--epochs=none", r"mt-train: error: argument --epochs", 2),
        ("nothing", r"^mt-train: the job must be one of", 1),
    ],
)
def test_message_of_all_ranks_is_printed_once(
    mpiexec: str, argument: str, pattern: str, code: int
) -> None:
    command = [mpiexec, "-n", "2", sys.executable, "-m", "mt_train", argument]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (result.returncode != 0) == (code != 0)
    output = result.stdout + result.stderr
    assert len(re.findall(pattern, output, re.MULTILINE)) == 1, output


def test_control_c_ends_all_ranks_after_the_same_step(mpiexec: str, tmp_path: Path) -> None:
    with start(mpiexec, 2, "interrupted", str(tmp_path)) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "under way\n"
        running.send_signal(signal.SIGINT)
        try:
            output, errors = running.communicate(timeout=60)
        finally:
            running.kill()
    steps = re.search(r"^\[(\d+), (\d+)\]$", output, re.MULTILINE)
    assert steps, errors
    one, other = map(int, steps.groups())
    assert one == other > 0
    (path,) = Checkpoints(tmp_path).paths()
    assert path.name == f"step-{one:08}.safetensors"


def test_missing_mpi4py_raises_with_installation_advice(tmp_path: Path) -> None:
    (tmp_path / "mpi4py.py").write_text("raise ImportError('none')")
    result = subprocess.run(
        [sys.executable, "-c", "from mt_nn.parallel import world; world()"],
        env={**os.environ, "PMI_RANK": "0", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    last = result.stderr.strip().splitlines()[-1]
    assert last.endswith("need mpi4py: pip install 'mt-nn[mpi]'")
