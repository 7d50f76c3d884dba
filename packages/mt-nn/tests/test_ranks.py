"""Ranks as MPI starts them: `hatch run mpi:test`."""

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
ON = [name for name in ("numpy", "fast") if name in backends()]


class Ended(NamedTuple):
    """How a program has ended, and what it has told."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def mpiexec() -> str:
    pytest.importorskip("mpi4py")
    found = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if found is None:
        pytest.skip("mpiexec is not installed")
    return found


def started(
    mpiexec: str,
    size: int,
    *arguments: str,
    program: str = "ranks.py",
    timeout: float = 60.0,
    **variables: str,
) -> subprocess.Popen[str]:
    """Start a program on so many ranks."""
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


def on_ranks(mpiexec: str, size: int, *arguments: str, **how: Any) -> Ended:
    """Run a program on so many ranks; see `started`."""
    with started(mpiexec, size, *arguments, **how) as running:
        try:
            told = running.communicate(timeout=120)
        finally:
            running.kill()
    return Ended(running.returncode, *told)


@pytest.mark.parametrize("backend", ON)
def test_ranks_learn_what_one_learns(mpiexec: str, backend: str) -> None:
    found: list[dict[str, Any]] = []
    for size in (1, 2, 4):
        ended = on_ranks(mpiexec, size, "train", backend)
        assert ended.returncode == 0, ended.stderr
        found.append(json.loads(ended.stdout))
    assert [each["size"] for each in found] == [1, 2, 4]
    for each in found:
        assert each["losses"] == pytest.approx(found[0]["losses"], rel=1e-9)
        assert each["weights"] == pytest.approx(found[0]["weights"], rel=1e-6)


MESSAGES = {
    "raises": r"rank 1 \(.*\) raised ValueError: no such thing after operation 5, gradients",
    "ends": r"rank [02] \(.*\) has waited 3 s for other ranks in operation 6, gradients of step 4",
    "other": r"rank \d \(.*\) has waited 3 s for other ranks in operation 6, (gradients|losses)",
    "stopped": r"rank [02] \(.*\) has waited 3 s for other ranks in operation [56], gradients",
    "asleep": r"rank [02] \(.*\) has waited 3 s for other ranks in operation 6, gradients",
}


@pytest.mark.parametrize("fault", MESSAGES)
def test_a_rank_that_fails_ends_all_with_a_message(mpiexec: str, fault: str) -> None:
    began = time.monotonic()
    ended = on_ranks(mpiexec, 3, fault, timeout=3.0)
    assert time.monotonic() - began < 20  # of which most is importing
    assert ended.returncode != 0
    told = [line for line in ended.stderr.splitlines() if line.startswith("mt_nn.parallel: ")]
    assert told, ended.stderr
    assert all(re.search(MESSAGES[fault], line) for line in told), told


def test_a_rank_that_is_killed_ends_all(mpiexec: str) -> None:
    began = time.monotonic()
    assert on_ranks(mpiexec, 3, "killed").returncode != 0
    assert time.monotonic() - began < 20


def test_a_full_disk_ends_all_and_leaves_checkpoints_whole(mpiexec: str, tmp_path: Path) -> None:
    ended = on_ranks(mpiexec, 2, "full", str(tmp_path))
    assert ended.returncode != 0
    told = [line for line in ended.stderr.splitlines() if line.startswith("mt_nn.parallel: ")]
    assert len(told) == 1, ended.stderr
    assert re.search(r"rank 0 \(.*\) raised FileError: .*step-00000003.*too large", told[0])
    steps = [path.name for path in Checkpoints(tmp_path).paths()]
    assert steps == ["step-00000001.safetensors", "step-00000002.safetensors"]
    network = nn.Linear(100, 10)
    load_checkpoint(tmp_path / steps[-1], model=network)
    assert sorted(path.name for path in tmp_path.iterdir()) == steps  # and nothing half written


@pytest.mark.parametrize(
    ("wanted", "says", "code"),
    [
        ("--help", r"^usage: mt-train", 0),
        ("--epochs=none", r"mt-train: error: argument --epochs", 2),
        ("nothing", r"^mt-train: the job must be one of", 1),
    ],
)
def test_what_all_ranks_would_say_is_said_once(
    mpiexec: str, wanted: str, says: str, code: int
) -> None:
    command = [mpiexec, "-n", "2", sys.executable, "-m", "mt_train", wanted]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode != 0) == (code != 0)
    told = ended.stdout + ended.stderr
    assert len(re.findall(says, told, re.MULTILINE)) == 1, told


def test_control_c_ends_all_after_the_same_step(mpiexec: str, tmp_path: Path) -> None:
    with started(mpiexec, 2, "interrupted", str(tmp_path)) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "under way\n"
        running.send_signal(signal.SIGINT)
        try:
            told, complaints = running.communicate(timeout=60)
        finally:
            running.kill()
    steps = re.search(r"^\[(\d+), (\d+)\]$", told, re.MULTILINE)
    assert steps, complaints
    one, other = map(int, steps.groups())
    assert one == other > 0
    (path,) = Checkpoints(tmp_path).paths()
    assert path.name == f"step-{one:08}.safetensors"


def test_without_mpi4py_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mpi4py.py").write_text("raise ImportError('none')")
    ended = subprocess.run(
        [sys.executable, "-c", "from mt_nn.parallel import world; world()"],
        env={**os.environ, "PMI_RANK": "0", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert last.endswith("need mpi4py: pip install 'mt-nn[mpi]'")
