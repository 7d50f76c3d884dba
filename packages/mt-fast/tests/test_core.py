"""mt_fast.core works without the other modules of the package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mt_fast

PACKAGE = Path(mt_fast.__file__).parent

PROGRAM = """
import sys
import mt_fast
import mt_tensor as mt
from mt_tensor.examples.training import accuracy, train
from mt_tensor.examples.network import Network
from mt_operators.datasets import xor

assert mt_fast.__file__.startswith(sys.argv[1]), mt_fast.__file__
with mt.use_backend("fast"):
    x = mt.tensor([[3, 1, 2], [6, 5, 4]])
    assert (x @ x.T).tolist() == [[14, 31], [31, 77]]
    assert x.sum(0).tolist() == [9, 6, 6] and x.amax(1).tolist() == [3, 6]
    assert x.T.contiguous().tolist() == [[3, 6], [1, 5], [2, 4]]
    y = mt.arange(120).view(2, 3, 4, 5).permute(2, 0, 3, 1)
    assert y.sum((0, 3)).tolist() == y.numpy().sum((0, 3)).tolist()
    assert x.gather(1, mt.tensor([[2, 0], [1, 1]])).tolist() == [[2, 3], [5, 5]]
    assert x[[1, 0]].tolist() == [[6, 5, 4], [3, 1, 2]]
    network = Network(hidden=(10,))
    history = train(network, xor(60), 60, 0.3)
    assert history[-1].loss < 0.7 * history[0].loss, history[-1]
print([name for name in sorted(sys.modules) if name.startswith("mt_fast.")])
"""


@pytest.mark.slow
def test_core_trains_without_the_other_modules(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE / "core", tmp_path / "mt_fast" / "core")
    shutil.copy(PACKAGE / "__init__.py", tmp_path / "mt_fast")
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert all(name.startswith("'mt_fast.core") for name in result.stdout.strip("[]\n").split(", "))


def test_core_imports_only_core() -> None:
    for file in (PACKAGE / "core").glob("*.py"):
        lines = [line for line in file.read_text().splitlines() if "from mt_fast" in line]
        assert all("from mt_fast.core" in line for line in lines), file
