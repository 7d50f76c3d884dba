"""Tests in new processes: the choice of the machine, light imports, the kit, the README."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mt_cuda
from mt_operators.testing.documentation import run_docstrings, run_readme

PACKAGE = Path(__file__).parents[1]


def python(*arguments, **variables):
    """Run Python in a new process."""
    hidden = ("MT_CUDA_SIM", "MT_BACKEND", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, **variables},
        cwd=PACKAGE,
    )


KIT = "mt_tensor.conformance"
EACH_KERNEL = ("primitives", "programs", "operations::test_operation_values")
"""The tests of the kit that run every kind of kernel; the others repeat these."""


@pytest.mark.conformance
@pytest.mark.parametrize(
    ("order", "tests"),
    [("1", [KIT]), ("reversed", [f"{KIT}.test_{name}" for name in EACH_KERNEL])],
    ids=["forward", "reversed"],
)
def test_the_conformance_kit_passes_on_the_simulator(order, tests):
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(PACKAGE)]
    arguments += ["--pyargs", *tests, "--mt-backend", "cuda"]
    run = python(*arguments, MT_CUDA_SIM=order)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert "passed" in run.stdout
    assert "skipped" not in run.stdout


def test_importing_is_light():
    run = python("-c", "import mt_cuda, sys; print(*sys.modules)")
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert run.returncode == 0, run.stderr
    assert not loaded & {"numpy", "numba", "numba_cuda", "cuda", "llvmlite", "mt_tensor"}


def test_the_simulator_needs_nothing_of_cuda():
    code = """
import sys
sys.modules.update(dict.fromkeys(["cuda", "numba_cuda", "numba.cuda"]))  # none can be imported
import mt_tensor as mt
x = mt.tensor([1.0, 2.0], backend="cuda", requires_grad=True)
(x @ x).backward()
print(x.grad.tolist())
"""
    run = python("-c", code, MT_CUDA_SIM="1")
    assert run.stdout.strip() == "[2.0, 4.0]", run.stderr


def test_compiling_needs_no_removed_name_of_numpy():
    code = """
import numpy as np
vars(np).pop("row_stack", None)
import mt_cuda
print(".entry" in mt_cuda.compile_ptx("add"), hasattr(np, "row_stack"), hasattr(np, "vstack"))
"""
    run = python("-c", code)
    assert run.stdout.strip() == "True False True", run.stderr[-2000:]


def test_probing_prints_ready_or_the_reason():
    simulated = python("-m", "mt_tensor.backends", "--probe", MT_CUDA_SIM="1")
    row = next(line for line in simulated.stdout.splitlines() if line.startswith("cuda "))
    assert row.split()[-1] == "ready"
    real = python("-m", "mt_tensor.backends", "--probe")
    row = next(line for line in real.stdout.splitlines() if line.startswith("cuda "))
    assert row.endswith("ready") or "unavailable: " in row
    assert row.endswith("ready") or "MT_CUDA_SIM=1" in row


NO_DEVICE = {"CUDA_VISIBLE_DEVICES": ""}


def test_without_a_gpu_other_backends_work():
    code = """
import mt_tensor as mt
from mt_tensor.errors import BackendUnavailableError
try:
    mt.tensor([1.0], backend="cuda")
except BackendUnavailableError as error:
    print("unavailable:", error)
print((mt.tensor([1.0]) + 1).tolist())
"""
    run = python("-c", code, **NO_DEVICE)
    said, rest = run.stdout.splitlines()
    assert said.startswith("unavailable: ")
    assert "MT_CUDA_SIM=1" in said
    assert rest == "[2.0]"


@pytest.mark.parametrize(
    ("hide", "reason"),
    [
        ("sys.platform = 'darwin'", "there is no CUDA for macOS"),
        ("sys.modules['cuda.bindings'] = None", "the CUDA libraries cannot be imported"),
    ],
)
def test_each_reason_is_reported(hide, reason):
    code = f"""
import sys
import mt_cuda.core.gpu
{hide}
try:
    mt_cuda.core.gpu.Gpu()
except mt_cuda.core.gpu.BackendUnavailableError as error:
    print(error)
"""
    run = python("-c", code)
    assert reason in run.stdout, run.stderr


NUMBA_SIMULATOR = """
import math, sys, types
import numpy as np
from numba import cuda
from mt_cuda.inspection import kernels as inspection
from mt_cuda.core.kernel import Kernel
from mt_cuda.core.simulator import NAMES, SIZE, Simulator

def numba(kernel, grid, threads, arguments):
    names = {**NAMES, "cuda": cuda}
    exec(kernel.source, names)
    cuda.jit(names[kernel.name])[grid, threads](*arguments)

def compare(kernel, grid, threads, numbers, x, out):
    here = Simulator()
    a, b = here.upload(x), here.upload(out)
    here.launch(here.load(kernel), grid, threads, numbers, (a, 0, b, 0))
    there = out.copy()
    numba(kernel, grid, threads, (*numbers, x, 0, there, 0))
    assert np.array_equal(here.download(b, out.size), there), kernel.name
    print(kernel.name)

x, out = np.arange(20, dtype=np.float32), np.zeros(20, np.float32)
compare(inspection.kernel("square"), (2, 1), 4, (20,), x, out)
fold = inspection.reduction.Fold(
    "add", inspection.graph_of(inspection.OPERATORS["add"].value), 0,
    inspection.as_dtype("float32"), inspection.as_dtype("float32"), 0, 1, "index32",
)
rows = inspection.reduction.rows(fold, SIZE.threads)
compare(rows, (1, 2), SIZE.threads, (1, 20, 10, 1, 1), x, out)

product = inspection.matrix.matmul(inspection.as_dtype("float32"), SIZE.small, 0, True, True)
a, b = x[:15].reshape(5, 3), x[5:20].reshape(3, 5)
numbers = (1, 5, 3, 5, 3, 1, 5, 1, 5, 1)
there = np.zeros(25, np.float32)
numba(product, (4, 1), SIZE.small.threads, (*numbers, x, 0, x, 5, there, 0))
assert np.array_equal(there.reshape(5, 5), a @ b)
print(product.name)
"""


def test_the_simulator_of_numba_agrees():
    run = python("-c", NUMBA_SIMULATOR, NUMBA_ENABLE_CUDASIM="1")
    assert run.returncode == 0, run.stderr[-3000:]
    assert len(run.stdout.split()) == 3


def test_the_examples_of_the_readme():
    assert run_readme(PACKAGE / "README.md") > 0
    assert run_readme(PACKAGE / "docs" / "execution.md") > 0


def test_the_examples_of_docstrings():
    assert run_docstrings(mt_cuda) > 0
