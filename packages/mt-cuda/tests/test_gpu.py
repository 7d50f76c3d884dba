"""The real machine: its bookkeeping on a pretended driver, its limits on a real GPU."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import Simulator, bench
from mt_cuda.bench.rates import Bench
from mt_cuda.core import gpu
from mt_cuda.core.compiler import compile_kernel
from mt_cuda.core.kernel import define, numbers, operand
from mt_cuda.inspection.kernels import every_kernel
from mt_operators import OPERATORS
from mt_tensor.backends import use_backend
from mt_tensor.errors import BackendUnavailableError


def test_memory_goes_there_and_back(pretended):
    for values in (np.arange(5.0), np.array([True, False]), np.zeros(0, np.int8)):
        storage = pretended.from_host(values)
        assert np.array_equal(pretended.to_host(storage), values)
        assert pretended.to_host(storage).dtype == values.dtype
    assert pretended.machine.describe() == "Pretended, compute capability 9.0, 2 SMs"


def test_every_primitive_is_launched_with_the_right_arguments(pretended):
    with use_backend(pretended):
        x = mt.tensor(np.arange(12.0, dtype="f4").reshape(3, 4), requires_grad=True)
        y = ((x.T @ x) * 0.01).tanh().sum(0).relu()
        y.sum().backward()
        index = mt.tensor([[0, 1, 1, 0]])
        picked = x.detach().gather(0, index)
        added = x.detach().scatter_add(0, index, picked)
    there = mt.tensor(
        np.arange(12.0, dtype="f4").reshape(3, 4), backend="numpy", requires_grad=True
    )
    (((there.T @ there) * 0.01).tanh().sum(0).relu()).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), there.grad.numpy(), rtol=1e-5, atol=1e-6)
    assert picked.tolist() == [[0, 5, 6, 3]]
    assert added.tolist() == [[0, 1, 2, 6], [4, 10, 12, 7], [8, 9, 10, 11]]


def test_kernels_have_as_many_parameters_as_are_passed():
    kernels = {kernel.name: kernel for kernel in every_kernel()}
    for name in ("add_float32_vector", "scatter_add_float32_2", "gather_float64_2"):
        kernel = kernels[name]
        head = compile_kernel(kernel).ptx.split(".entry")[1].split(")")[0]
        arrays = sum(parameter.passed == "array" for parameter in kernel.parameters)
        assert head.count(".param") == len(kernel.parameters) + 6 * arrays


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"status": "CUDA_ERROR_NO_DEVICE"}, "finds no GPU"),
        ({"devices": 0}, "finds no GPU"),
        ({"status": SimpleNamespace(name="CUDA_ERROR_UNKNOWN")}, "CUDA_ERROR_UNKNOWN"),
        ({"status": RuntimeError("no libcuda.so.1.\nmore")}, r"driver .* \(no libcuda.so.1\)"),
        ({"version": 12040}, r"driver is for CUDA 12.4, .* for CUDA 13. .*mt-cuda\[cu13\]"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_drivers_without_a_device(pretend, facts, reason):
    with pytest.raises(BackendUnavailableError, match=f"{reason}.*MT_CUDA_SIM=1"):
        pretend(**facts)


def test_a_newer_driver_takes_what_is_for_an_older_one(pretend):
    pretend(version=14020)


def test_kernels_that_do_not_run_make_it_unavailable(pretend):
    with pytest.raises(BackendUnavailableError, match=r"run on Pretended: no compiler\. To learn"):
        pretend(missing="no compiler.\nMore of it.")


def test_ways_to_launch_are_remembered_in_limits(pretend, monkeypatch):
    machine, _ = pretend()
    monkeypatch.setattr(gpu, "REMEMBERED", 2)
    one = define("one", [*numbers("n"), *operand("y", mt.float32)], ["y[y_at] = float32(n)"])
    loaded, memory = machine.load(one), machine.allocate(1, mt.float32)
    for blocks in range(1, 6):
        machine.launch(loaded, (blocks, 1), 1, (blocks,), (memory, 0))
        assert machine.download(memory, 1)[0] == blocks
    assert len(machine._configs) <= 2


class TimedSimulator(Simulator):
    """A simulator that answers the benchmark's questions, and counts launches."""

    launched = 0

    def launch(self, *arguments):
        self.launched += 1
        super().launch(*arguments)

    def mark(self):
        return 0.0

    def between(self, before, after):
        return 1e-9

    def copy_memory(self, source, target):
        target.elements[:] = source.elements


def test_the_benchmark_measures_everything(capsys, monkeypatch):
    measured = Bench(machine := TimedSimulator(), runs=2, events=machine)
    reduce, folds = measured.ops.reduce, set()

    def noted(operator, source, dims):
        out = reduce(operator, source, dims)
        folds.add((dims, out.shape))
        return out

    monkeypatch.setattr(measured.ops, "reduce", noted)
    measured.memory(64)
    assert folds == {((0, 1), ()), ((1,), (8,)), ((0,), (8,))}
    measured.rows(64)
    measured.products((4,))
    before = machine.launched
    measured.launches(3)
    assert machine.launched >= before + 3
    *rates, operation, allocation = capsys.readouterr().out.splitlines()
    # In a billionth of a second as many GB/s as bytes, and GFLOP/s as operations.
    assert [" ".join(line.split()) for line in rates] == [
        "copy by the driver 512 GB/s",
        "map: neg 512 GB/s 100.0 % of copy",
        "map: tanh 512 GB/s 100.0 % of copy",
        "zip: add 768 GB/s 150.0 % of copy",
        "fused backward: mul 1280 GB/s 250.0 % of copy",
        "strided: copy of a transpose 512 GB/s 100.0 % of copy",
        "broadcast: matrix + row 512 GB/s 100.0 % of copy",
        "sum all 256 GB/s 50.0 % of copy",
        "sum over rows 256 GB/s 50.0 % of copy",
        "sum over columns 256 GB/s 50.0 % of copy",
        "softmax 512 GB/s 100.0 % of copy",
        "layer norm 512 GB/s 100.0 % of copy",
        "matmul 4 x 4 128 GFLOP/s",
    ]
    for line, what in ((operation, "operation"), (allocation, "allocation")):
        assert line.startswith(f"host time of one {what} ")
        assert line.endswith(" µs")


def test_the_benchmark_measures_the_steps_that_others_offer(capsys, monkeypatch):
    made = []

    def make():
        weights = mt.ones(3)
        made.append(weights)
        return lambda: weights.add_(1)

    monkeypatch.setattr("mt_cuda.bench.rates.steps", lambda: {"tiny": make})
    Bench(machine := TimedSimulator(), runs=2, events=machine).steps()
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"step tiny +\d+\.\d\d ms    \d+\.\d\d ms of the host", line)
    assert made[0].backend.name == "cuda"
    assert made[0].tolist() == [6, 6, 6]  # three to begin with, and two that are timed


# --- On a GPU -----------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("size", [1, 255, 1 << 20, (1 << 24) + 3])
def test_sizes(gpu_ops, size):
    values = np.random.default_rng(size).standard_normal(size).astype("f4")
    x, out = gpu_ops.from_host(values), gpu_ops.empty((size,), mt.float32)
    gpu_ops.elementwise(OPERATORS["neg"].value)((out,), x)
    assert np.array_equal(gpu_ops.to_host(out), -values)
    total = gpu_ops.reduce(OPERATORS["add"], x, (0,), True)
    assert gpu_ops.to_host(total)[0] == pytest.approx(values.sum(dtype="f8"), rel=1e-4, abs=1e-2)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(128, 128, 128), (1000, 333, 517), (2048, 1024, 2048)])
def test_large_products(gpu_ops, shape):
    n, m, k = shape
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype("f4") for s in ((n, m), (m, k)))
    for left, right in ((a, b), (np.array(a.T), b), (a, np.array(b.T))):
        x, y = gpu_ops.from_host(left), gpu_ops.from_host(right)
        x = x if left is a else x.permute(1, 0)
        y = y if right is b else y.permute(1, 0)
        out = gpu_ops.matmul(x, y)
        np.testing.assert_allclose(gpu_ops.to_host(out), a @ b, rtol=1e-3, atol=1e-2)


@pytest.mark.gpu
@pytest.mark.parametrize("dims", [(0,), (1,), (0, 1)])
def test_large_folds_repeat_exactly(gpu_ops, dims):
    values = np.random.default_rng(0).standard_normal((3000, 1031)).astype("f4")
    x = gpu_ops.from_host(values)
    results = []
    for _ in range(3):
        out = gpu_ops.reduce(OPERATORS["add"], x, dims, True)
        results.append(gpu_ops.to_host(out))
    assert all(np.array_equal(result, results[0]) for result in results)
    wanted = values.sum(dims, dtype="f8", keepdims=True)
    np.testing.assert_allclose(results[0], wanted, rtol=1e-4, atol=1e-2)


@pytest.mark.gpu
def test_another_thread_may_compute(gpu_ops):
    import threading

    results = []

    def work():
        x = gpu_ops.from_host(np.ones(10, "f4"))
        results.append(gpu_ops.to_host(x).sum())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [10.0]


@pytest.mark.gpu
def test_the_benchmark_runs(gpu_ops, capsys):
    assert bench.main(["--size", "1", "--runs", "3"]) == 0
    assert "GFLOP/s" in capsys.readouterr().out
