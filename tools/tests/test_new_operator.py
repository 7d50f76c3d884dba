"""One row in the operator table and one row of samples make an operator, on every stage.

The two rows are written into a pytest plugin, outside of every package. The tests that walk the
tables, which know nothing of it, then find the new operator: on floats, on Scalars, and on tensors
of every backend that can run here.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mt_tensor as mt

ROOT = Path(__file__).parents[2]

ROWS = """
from mt_operators import OPERATORS
from mt_operators.table import sigmoid
from mt_operators.testing import WIDE, sample

OPERATORS.add(
    "swish",
    lambda x: x * sigmoid(x),
    lambda x, out: sigmoid(x) + out * (1.0 - sigmoid(x)),
    result="real",
    note="x / (1 + exp(-x))",
)
sample("swish", lambda np, x: x / (1.0 + np.exp(-x)), WIDE)
"""

STAGES = {
    "floats": ["packages/mt-operators/tests/test_operators.py"],
    "Scalars": ["packages/mt-autodiff/tests/test_scalar.py"],
    **{
        f"tensors of {name}": ["--pyargs", "mt_tensor.conformance", "--mt-backend", name]
        for name in ("simple", "numpy", "fast", "cuda")
    },
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_new_operator_is_everywhere(stage: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    if stage.endswith("cuda") and mt.backends()["cuda"].status() != "ready":
        environment["MT_CUDA_SIM"] = "1"
    (tmp_path / "new_operator.py").write_text(ROWS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "new_operator", "-k", "swish"]
    result = subprocess.run(
        [*command, "-p", "no:cacheprovider", *STAGES[stage]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    least = 2 if stage in {"floats", "Scalars"} else 10
    passed = int(result.stdout.splitlines()[-1].split(" passed")[0].split()[-1])
    assert passed >= least, result.stdout
