"""New processes: choice of the machine, imports, the conformance kit, examples."""

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
    ignored = ("MT_CUDA_SIM", "MT_BACKEND", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER")
    environment = {k: v for k, v in os.environ.items() if k not in ignored}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, **variables},
        cwd=PACKAGE,
    )


KIT = "mt_tensor.conformance"
EACH_KERNEL = ("primitives", "operations::test_operation_values_match_numpy")
"""Tests of the kit that together run every kind of kernel."""


@pytest.mark.conformance
@pytest.mark.parametrize(
    ("order", "tests"),
    [("1", [KIT]), ("reversed", [f"{KIT}.test_{name}" for name in EACH_KERNEL])],
    ids=["forward", "reversed"],
)
def test_conformance_kit_passes_on_simulator(order, tests):
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(PACKAGE)]
    arguments += ["--pyargs", *tests, "--mt-backend", "cuda"]
    run = python(*arguments, MT_CUDA_SIM=order)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert "passed" in run.stdout
    assert "skipped" not in run.stdout


def test_import_loads_neither_numpy_nor_cuda_packages():
    run = python("-c", "import mt_cuda, sys; print(*sys.modules)")
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert run.returncode == 0, run.stderr
    assert not loaded & {"numpy", "numba", "numba_cuda", "cuda", "llvmlite", "mt_tensor"}


def test_simulator_works_without_cuda_packages():
    code = """
import sys
sys.modules.update(dict.fromkeys(["cuda", "numba_cuda", "numba.cuda"]))  # imports of these raise
import mt_tensor as mt
x = mt.tensor([1.0, 2.0], backend="cuda", requires_grad=True)
(x @ x).backward()
print(x.grad.tolist())
"""
    run = python("-c", code, MT_CUDA_SIM="1")
    assert run.stdout.strip() == "[2.0, 4.0]", run.stderr


def test_compile_ptx_works_without_numpy_row_stack():
    code = """
import numpy as np
vars(np).pop("row_stack", None)
import mt_cuda
print(".entry" in mt_cuda.compile_ptx("add"), hasattr(np, "row_stack"), hasattr(np, "vstack"))
"""
    run = python("-c", code)
    assert run.stdout.strip() == "True False True", run.stderr[-2000:]


def test_probe_prints_ready_or_the_reason():
    simulated = python("-m", "mt_tensor.backends", "--probe", MT_CUDA_SIM="1")
    row = next(line for line in simulated.stdout.splitlines() if line.startswith("cuda "))
    assert row.split()[-1] == "ready"
    real = python("-m", "mt_tensor.backends", "--probe")
    row = next(line for line in real.stdout.splitlines() if line.startswith("cuda "))
    assert row.endswith("ready") or "unavailable: " in row
    assert row.endswith("ready") or "MT_CUDA_SIM=1" in row


NO_DEVICE = {"CUDA_VISIBLE_DEVICES": ""}


def test_backends_other_than_cuda_work_without_gpu():
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
    message, rest = run.stdout.splitlines()
    assert message.startswith("unavailable: ")
    assert "MT_CUDA_SIM=1" in message
    assert rest == "[2.0]"


@pytest.mark.parametrize(
    ("setup", "reason"),
    [
        ("sys.platform = 'darwin'", "there is no CUDA for macOS"),
        ("sys.modules['cuda.bindings'] = None", "the CUDA libraries cannot be imported"),
    ],
)
def test_error_of_unavailable_gpu_states_reason(setup, reason):
    code = f"""
import sys
import mt_cuda.core.gpu
{setup}
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
    simulator = Simulator()
    a, b = simulator.upload(x), simulator.upload(out)
    simulator.launch(simulator.load(kernel), grid, threads, numbers, (a, 0, b, 0))
    expected = out.copy()
    numba(kernel, grid, threads, (*numbers, x, 0, expected, 0))
    assert np.array_equal(simulator.download(b, out.size), expected), kernel.name
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
expected = np.zeros(25, np.float32)
numba(product, (4, 1), SIZE.small.threads, (*numbers, x, 0, x, 5, expected, 0))
assert np.array_equal(expected.reshape(5, 5), a @ b)
print(product.name)
"""


def test_numba_simulator_gives_the_same_results():
    run = python("-c", NUMBA_SIMULATOR, NUMBA_ENABLE_CUDASIM="1")
    assert run.returncode == 0, run.stderr[-3000:]
    assert len(run.stdout.split()) == 3


def test_readme_and_guide_examples_run():
    assert run_readme(PACKAGE / "README.md") > 0
    assert run_readme(PACKAGE / "docs" / "execution.md") > 0


def test_docstring_examples_run():
    assert run_docstrings(mt_cuda) > 0
