"""Reductions of rows on the simulator, compared with NumPy, and the choice of the kernel."""

from dataclasses import replace

import numpy as np
import pytest

from mt_cuda import CudaOps, Simulator
from mt_cuda.recording import Record, Recorder
from mt_operators import OPERATORS
from mt_tensor import get_backend
from mt_tensor.extending import DTYPES

VIEWS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.permute(1, 0),
    "every second": lambda x: x.slice((0, 0), (1, 2), (x.shape[0], x.shape[1] // 2)),
    "flipped": lambda x: x.slice((0, x.shape[1] - 1), (1, -1), x.shape),
}


@pytest.fixture(params=["forward", "reversed"], scope="module")
def ops(request):
    """Return a backend with two warps per block, which reduce different rows."""
    machine = Simulator(request.param)
    machine.size = replace(machine.size, threads=64)
    return CudaOps(machine)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shape", [(3, 7), (1, 8), (5, 9), (3, 31), (2, 32), (3, 70), (2, 513)])
@pytest.mark.parametrize("name", ["add", "maximum", "logical_or"])
def test_reduction_of_rows_of_any_length_matches_numpy(ops, name, shape, view):
    dtype = "bool" if name == "logical_or" else "int32"
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)
    numpy = get_backend("numpy")
    for dims in ((0,), (1,), (0, 1)):
        ours, wanted = (
            backend.to_host(
                backend.reduce(OPERATORS[name], VIEWS[view](backend.from_host(x)), dims)
            )
            for backend in (ops, numpy)
        )
        np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("dtype", [*DTYPES])
def test_reduction_of_rows_of_every_dtype_matches_numpy(ops, dtype):
    x = np.random.default_rng(0).integers(0, 2, (5, 40)).astype(DTYPES[dtype].numpy)
    for name, wanted in (("mul", x.all(1)), ("maximum", x.any(1))):
        found = ops.to_host(ops.reduce(OPERATORS[name], ops.from_host(x), (1,)))
        np.testing.assert_array_equal(found.astype(bool), wanted)


@pytest.mark.parametrize("position", [0, 31, 32, 39])
@pytest.mark.parametrize("name", ["add", "maximum", "minimum"])
def test_reduction_of_rows_propagates_nan(ops, name, position):
    x = np.ones((3, 40), "f4")
    x[1, position] = np.nan
    found = ops.to_host(ops.reduce(OPERATORS[name], ops.from_host(x), (1,)))
    np.testing.assert_array_equal(np.isnan(found), [False, True, False])


@pytest.mark.parametrize(
    ("shape", "dims", "pattern", "threads"),
    [
        ((4096, 100), (1,), "team32", 4096 * 32),
        ((4096, 10), (1,), "team8", 4096 * 8),
        ((64, 6, 10), (0, 2), "rows", None),
        ((100, 4096), (0,), "columns", None),
        ((4096, 7), (1,), "columns", None),
        ((64, 4096), (1,), "rows", None),
    ],
)
def test_kernel_is_chosen_by_shape_and_dimensions(shape, dims, pattern, threads):
    ops = CudaOps(machine := Recorder())
    x = ops.from_host(np.zeros(shape, "f4"))
    machine.record = Record()
    ops.reduce(OPERATORS["add"], x, dims)
    first = machine.record.launches[0]
    assert f"_{pattern}_" in first.kernel.name
    assert threads is None or first.blocks * machine.size.threads == threads
