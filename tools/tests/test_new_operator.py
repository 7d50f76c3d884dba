"""One row in the operator table and one row of samples make an operator, on every stage.

The two rows are in a pytest plugin outside of the packages. The tests that iterate over the tables
then find the new operator: for floats, for Scalars, and for tensors of every backend that can run
here.
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
from mt_operators.core.table import sigmoid
from mt_operators.testing import WIDE, sample

OPERATORS.add(
    "swish",
    lambda x: x * sigmoid(x),
    lambda x, out: sigmoid(x) + out * (1.0 - sigmoid(x)),
    result="real",
    note="x / (1 + exp(-x))",
    aliases=("swoosh",),
)
sample("swish", lambda np, x: x / (1.0 + np.exp(-x)), WIDE)
"""

# The modules that iterate over the table of operators; collecting the others takes too long.
KIT = [
    "--pyargs",
    *(f"mt_tensor.conformance.test_{name}" for name in ("elementwise", "operations")),
]

STAGES = {
    "floats": ["packages/mt-operators/tests/test_operators.py"],
    "Scalars": ["packages/mt-autodiff/tests/test_scalar.py"],
    **{
        f"tensors of {name}": [*KIT, "--mt-backend", name]
        for name in ("simple", "numpy", "fast", "cuda")
    },
}


@pytest.mark.parametrize("stage", STAGES)
def test_conformance_tests_of_every_stage_find_and_pass_a_new_operator(
    stage: str, tmp_path: Path
) -> None:
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


USES = """
import io
from contextlib import redirect_stdout

import new_operator

import mt_tensor as mt
from mt_autodiff import Scalar
from mt_operators.__main__ import main

assert {"swish", "swoosh"} <= {*dir(mt)}
x = mt.tensor([1.0, -2.0])
expected = mt.swish(x).tolist()
assert x.swish().tolist() == x.swoosh().tolist() == mt.swoosh(x).tolist() == expected
assert x.clone().swish_().tolist() == x.clone().swoosh_().tolist() == expected
assert Scalar(1.0).swish().data == Scalar(1.0).swoosh().data

with redirect_stdout(io.StringIO()) as shown:
    main(["swish"])
assert "value  x * sigmoid(x)" in shown.getvalue()
"""


def test_new_operator_has_functions_methods_aliases_and_documentation(tmp_path: Path) -> None:
    (tmp_path / "new_operator.py").write_text(ROWS)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "tools")]),
    }
    command = [sys.executable, "-c", USES]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_readme_lists_every_operator() -> None:
    """The operators are listed in a new process, to which no other test has added one."""
    listing = "from mt_operators import OPERATORS; print(*OPERATORS)"
    command = [sys.executable, "-c", listing]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    text = (ROOT / "packages/mt-operators/README.md").read_text(encoding="utf-8")
    _, _, section = text.partition("All operators, by what they return:")
    listed = " ".join(section.partition("##")[0].split("`")[1::2]).split()
    assert sorted(listed) == sorted(names)
