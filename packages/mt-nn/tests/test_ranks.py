"""Ranks as MPI starts them: `hatch run mpi:test`."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import mt_nn as nn
from mt_nn import Checkpoints, load_checkpoint
from mt_tensor.backends import backends

pytestmark = pytest.mark.mpi

PROGRAM = Path(__file__).with_name("programs") / "ranks.py"
ON = [name for name in ("numpy", "fast") if name in backends()]


@pytest.fixture
def mpiexec() -> str:
    pytest.importorskip("mpi4py")
    found = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if found is None:
        pytest.skip("mpiexec is not installed")
    return found


def on_ranks(
    mpiexec: str, size: int, *arguments: str, timeout: float = 60.0
) -> subprocess.CompletedProcess[str]:
    """Run the program on so many ranks."""
    command = [mpiexec, "-n", str(size), sys.executable, str(PROGRAM), *arguments]
    environment = {
        **os.environ,
        "MT_RANK_TIMEOUT": str(timeout),
        "NUMBA_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=environment, check=False
    )


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
    "killed": r"rank 1 \(.*\) died, last heard of (in|after) operation \d+, gradients of step 3",
    "raises": r"rank 1 \(.*\) raised ValueError: no such thing after operation 5, gradients",
    "ends": r"rank 1 \(.*\) has ended after operation 5, .* waits for it in operation 6, gradients",
    "other": r"operation 6 of rank \d .* is .*, and of rank \d .*: ranks must do the same",
    "stopped": r"rank 1 \(.*\) has been silent for \d s, (in|after) operation \d+, gradients",
    "asleep": r"rank 1 \(.*\) has been after operation 5, gradients .* for \d s, while rank \d",
}


@pytest.mark.parametrize("fault", MESSAGES)
def test_a_rank_that_fails_ends_all_with_one_message(mpiexec: str, fault: str) -> None:
    began = time.monotonic()
    ended = on_ranks(mpiexec, 3, fault, timeout=3.0)
    assert time.monotonic() - began < 20  # of which most is importing
    assert ended.returncode != 0
    told = [line for line in ended.stderr.splitlines() if line.startswith("mt_nn.parallel: ")]
    assert len(told) == 1, ended.stderr
    assert re.search(MESSAGES[fault], told[0])


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
    assert last.endswith("takes mpi4py: pip install 'mt-nn[mpi]'")
