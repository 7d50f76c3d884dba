"""Tiled copies of permuted tensors: results on the simulator, and when tiles are used."""

import numpy as np
import pytest

from mt_cuda import CudaOps, Simulator
from mt_cuda.recording import Record, Recorder
from mt_cuda.transposition import transposed
from mt_tensor import get_backend
from mt_tensor.extending import DTYPES


@pytest.fixture(params=["forward", "reversed"], scope="module")
def ops(request):
    return CudaOps(Simulator(request.param))


def permuted_copy(ops, values, order):
    """Return a contiguous copy of an array with permuted dimensions."""
    x = ops.from_host(values).permute(*order)
    return ops.to_host(ops.copy(x, x.layout.contiguous))


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((1, 1), (1, 0)),
        ((4, 4), (1, 0)),
        ((9, 5), (1, 0)),
        ((2, 13), (1, 0)),
        ((3, 5, 7), (0, 2, 1)),
        ((3, 5, 7), (2, 0, 1)),
        ((3, 5, 7), (2, 1, 0)),
        ((2, 3, 5, 4), (0, 3, 2, 1)),
        ((2, 3, 5, 4), (3, 1, 0, 2)),
        ((2, 3, 2, 5, 4), (4, 1, 2, 0, 3)),
    ],
)
def test_permuted_copy_matches_numpy(ops, shape, order):
    values = np.random.default_rng(0).permutation(np.prod(shape)).reshape(shape).astype("i4")
    np.testing.assert_array_equal(permuted_copy(ops, values, order), values.transpose(order))


@pytest.mark.parametrize("dtype", [*DTYPES])
def test_transposed_copy_of_every_dtype_matches_numpy(ops, dtype):
    x = np.random.default_rng(0).integers(0, 2, (5, 6)).astype(DTYPES[dtype].numpy)
    np.testing.assert_array_equal(permuted_copy(ops, x, (1, 0)), x.T)


def test_transposed_copy_between_slices_matches_numpy(ops):
    values = np.arange(120.0, dtype="f4").reshape(10, 12)
    numpy, results = get_backend("numpy"), []
    for backend in (ops, numpy):
        source = backend.from_host(values).slice((9, 1), (-2, 1), (5, 7)).permute(1, 0)
        out = backend.from_host(np.zeros((9, 8), "f4"))
        backend.copy(source, out.slice((1, 2), (1, 1), (7, 5)))
        results.append(backend.to_host(out))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    ("shape", "order", "tiles"),
    [
        ((4096, 1000), (1, 0), 128 * 32),
        ((16, 64, 6, 64), (0, 2, 3, 1), 16 * 6 * 2 * 2),
        ((4096, 1000), (0, 1), None),
        ((16, 256, 6, 64), (0, 2, 1, 3), None),  # the last dimension stays last
        ((4096, 7), (1, 0), None),
    ],
)
def test_tiles_are_used_for_large_transposed_copies(shape, order, tiles):
    ops = CudaOps(machine := Recorder())
    x = ops.from_host(np.zeros(shape, "f4")).permute(*order)
    machine.record = Record()
    ops.copy(x, x.layout.contiguous)
    (launch,) = machine.record.launches
    assert launch.kernel.name.startswith("transposed") == (tiles is not None)
    assert tiles is None or launch.blocks == tiles


def test_tiled_copy_of_large_memory_has_64_bit_indices():
    kernel = transposed(DTYPES["uint8"], 2, 4, 8, "int64")
    assert kernel.name == "transposed_uint8_4_of_2_wide"
    assert "int64(row) * y_apart" in kernel.source
