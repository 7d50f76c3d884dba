"""The GPU machine: calls to a mock driver, and large sizes on a real GPU."""

from types import SimpleNamespace

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda.core import gpu
from mt_cuda.core.compiler import compile_kernel
from mt_cuda.core.elements import operand
from mt_cuda.core.kernel import define, numbers
from mt_operators import OPERATORS
from mt_tensor.backends import use_backend
from mt_tensor.errors import BackendUnavailableError


def test_arrays_are_copied_to_device_and_back(mock_ops):
    for values in (np.arange(5.0), np.array([True, False]), np.zeros(0, np.int8)):
        storage = mock_ops.from_host(values)
        assert np.array_equal(mock_ops.to_host(storage), values)
        assert mock_ops.to_host(storage).dtype == values.dtype
    assert mock_ops.machine.describe() == "Mock GPU, compute capability 9.0, 2 SMs"


def test_primitives_on_mock_gpu_match_numpy(mock_ops):
    with use_backend(mock_ops):
        x = mt.tensor(np.arange(12.0, dtype="f4").reshape(3, 4), requires_grad=True)
        y = ((x.T @ x) * 0.01).tanh().sum(0).relu()
        y.sum().backward()
        index = mt.tensor([[0, 1, 1, 0]])
        picked = x.detach().gather(0, index)
        added = x.detach().scatter_add(0, index, picked)
    expected = mt.tensor(
        np.arange(12.0, dtype="f4").reshape(3, 4), backend="numpy", requires_grad=True
    )
    (((expected.T @ expected) * 0.01).tanh().sum(0).relu()).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), expected.grad.numpy(), rtol=1e-5, atol=1e-6)
    assert picked.tolist() == [[0, 5, 6, 3]]
    assert added.tolist() == [[0, 1, 2, 6], [4, 10, 12, 7], [8, 9, 10, 11]]


def test_ptx_has_one_parameter_per_passed_argument(every_kernel):
    for name in ("add_float32_contiguous", "scatter_add_float32_2", "gather_float64_2"):
        kernel = every_kernel[name]
        head = compile_kernel(kernel).ptx.split(".entry")[1].split(")")[0]
        arrays = sum(parameter.passed == "array" for parameter in kernel.parameters)
        assert head.count(".param") == len(kernel.parameters) + 6 * arrays


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"status": "CUDA_ERROR_NO_DEVICE"}, "finds no GPU"),
        ({"devices": 0}, "finds no GPU"),
        ({"status": SimpleNamespace(name="CUDA_ERROR_UNKNOWN")}, "CUDA_ERROR_UNKNOWN"),
        ({"status": RuntimeError("no libcuda.so.1.\nmore")}, r"driver .* \(no libcuda.so.1\)"),
        ({"version": 12040}, r"driver is for CUDA 12.4, .* for CUDA 13. .*mt-cuda\[cu13\]"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_gpu_is_unavailable_without_device_or_suitable_driver(make_mock_gpu, settings, reason):
    with pytest.raises(BackendUnavailableError, match=f"{reason}.*MT_CUDA_SIM=1"):
        make_mock_gpu(**settings)


def test_newer_driver_is_accepted(make_mock_gpu):
    make_mock_gpu(version=14020)


def test_gpu_is_unavailable_if_kernels_do_not_run(make_mock_gpu):
    with pytest.raises(BackendUnavailableError, match=r"run on Mock GPU: no compiler\. To learn"):
        make_mock_gpu(missing="no compiler.\nMore of it.")


def test_launch_config_cache_is_bounded(make_mock_gpu, monkeypatch):
    machine, _ = make_mock_gpu()
    monkeypatch.setattr(gpu, "CACHE_SIZE", 2)
    one = define("one", [*numbers("n"), *operand("y", mt.float32)], ["y[y_at] = float32(n)"])
    loaded, memory = machine.load(one), machine.allocate(1, mt.float32)
    for blocks in range(1, 6):
        machine.launch(loaded, (blocks, 1), 1, (blocks,), (memory, 0))
        assert machine.download(memory, 1)[0] == blocks
    assert len(machine._configs) <= 2


# --- On a GPU -----------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("size", [1, 255, 1 << 20, (1 << 24) + 3])
def test_neg_and_sum_on_gpu_match_numpy(gpu_ops, size):
    values = np.random.default_rng(size).standard_normal(size).astype("f4")
    x, out = gpu_ops.from_host(values), gpu_ops.empty((size,), mt.float32)
    gpu_ops.elementwise(OPERATORS["neg"].value)((out,), x)
    assert np.array_equal(gpu_ops.to_host(out), -values)
    total = gpu_ops.reduce(OPERATORS["add"], x, (0,), True)
    assert gpu_ops.to_host(total)[0] == pytest.approx(values.sum(dtype="f8"), rel=1e-4, abs=1e-2)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(128, 128, 128), (1000, 333, 517), (2048, 1024, 2048)])
def test_large_matmul_on_gpu_matches_numpy(gpu_ops, shape):
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
def test_large_sum_on_gpu_is_deterministic(gpu_ops, dims):
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
def test_gpu_works_in_another_thread(gpu_ops):
    import threading

    results = []

    def work():
        x = gpu_ops.from_host(np.ones(10, "f4"))
        results.append(gpu_ops.to_host(x).sum())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [10.0]
