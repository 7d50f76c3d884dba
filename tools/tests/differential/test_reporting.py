"""Programs with differences are reduced and printed, and a campaign is summarized."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mt_nn.torch_names
from differential import running
from differential.programs import Ref, Step, leaf
from differential.reporting import counted, described, summary
from differential.shrinking import smallest
from mt.workspace import ROOT

needs_torch = pytest.mark.usefixtures("torch")
FOLDER = Path(__file__).parent
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
STEPS = [
    leaf(MATRIX, requires_grad=True),
    leaf(MATRIX),
    Step("torch.cat()", ([Ref(0), Ref(1)],), {"dim": 1}),
    Step(".T", (Ref(2),)),
    Step("torch.exp()", (Ref(3),)),
    Step(".neg()", (Ref(4),)),
]
SMALLEST = """\
exp: elements, beyond rounding of v1
import torch  # or: import mt_nn.torch_names as torch
from math import inf, nan

v0 = torch.tensor(4.0, dtype=torch.float32)
v1 = torch.exp(v0)
# here:
#   array(55.09815, dtype=float32)
# torch:
#   array(54.59815, dtype=float32)"""


@needs_torch
def test_program_with_a_difference_is_reduced_to_a_minimal_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mt_nn.torch_names, "exp", lambda x: x.exp() + (x > 3) * 0.5)
    program = running.run(STEPS)
    assert described(smallest(program, running.run), "torch") == SMALLEST


@needs_torch
def test_summary_counts_steps_errors_and_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    raising = Step(".view()", (Ref(0), -5))
    programs = [counted(running.run(steps), "torch") for steps in (STEPS, [*STEPS[:1], raising])]
    assert list(summary(programs, details=False)) == [
        "2 programs: 7 steps run and 1 errors, of 6 operations; 0 known differences, 0 others"
    ]
    monkeypatch.setattr(mt_nn.torch_names, "exp", lambda x: x)
    programs.append(counted(running.run(STEPS), "torch"))
    *details, last = summary(programs, details=True)
    assert last.endswith("0 known differences, 1 others")
    assert "     0 products promote" in details


PLANTED = """
import mt_nn.torch_names

right = mt_nn.torch_names.tensor
mt_nn.torch_names.tensor = lambda data, **settings: right([data], **settings)
"""


@needs_torch
def test_campaign_with_a_planted_fault_fails_and_prints_the_program(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(PLANTED)
    status, printed = _campaign("-p planted --maxfail 1 --programs 3 --seed 7", tmp_path)
    assert status == 1
    assert "test_random_program_matches_its_oracle[torch-7-0]" in printed
    assert "\ntensor: shapes of v0\n" in printed
    assert "v0 = torch.tensor(0.0, dtype=torch.float32)\n# here:\n#   (1,)\n" in printed
    assert "0 known differences, 1 others" in printed


@needs_torch
def test_readme_example_prints_the_documented_output(tmp_path: Path) -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    ((options, wanted),) = re.findall(
        r"```console\n\$ hatch run torch:differential (.*)\n((?s:.*?))```", text
    )
    status, printed = _campaign(options, tmp_path)
    assert status == 0, printed
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(wanted, printed, options), printed


def _campaign(options: str, path: Path) -> tuple[int, str]:
    """Run a campaign in another process; return its status and output."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, str(FOLDER / "test_programs.py"), *options.split()],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout
