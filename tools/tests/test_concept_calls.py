"""The code that the map names for a column really runs there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mt.concept.maps import read_map

TOOLS = Path(__file__).parents[1]

UNSEEN = {
    "mt_cuda.core.compiler.compile_kernel": "the simulator does without",
    "mt_cuda.core.gpu.Gpu.launch": "the simulator does without",
    "mt_fast.vector_math.exponentials.sigmoid": ("a kernel that is loaded from disk has it in it"),
}
"""Code that runs, but cannot be traced everywhere, with reasons."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each column runs in a fork of a process")
def test_the_named_code_runs() -> None:
    command = [sys.executable, "-m", "mt.concept.calls"]
    done = subprocess.run(command, cwd=TOOLS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {name for name, _, _ in rows} == set(read_map())
    uncalled = {
        (name, column): missing
        for name, column, named in rows
        if (missing := set(named) - set(UNSEEN))
    }
    assert uncalled == {}


def test_code_that_does_not_run_is_noticed(tmp_path: Path) -> None:
    program = """
from mt.concept.calls import called
from mt_operators import operators

places = called(lambda: operators.sum([1.0, 2.0]), None)
for function in (operators.sum, operators.mul):
    code = function.__code__
    print((code.co_filename, code.co_firstlineno) in places)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=TOOLS, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
