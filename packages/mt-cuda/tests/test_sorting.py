"""Sorting and unique() on the simulator, compared with the numpy backend."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.recording import Record, Recorder

SHAPES = [((7,), 0), ((5, 3), 0), ((3, 2, 4), 1), ((2, 64), 1), ((65,), 0), ((3, 150, 2), 1)]
SHAPES += [((1, 1), 0), ((0, 3), 0), ((3, 0), 1), ((), 0), ((9, 1), 1)]
"""Shapes with several rows per block, one row per block, one row for two blocks, and several runs
to merge, some without a partner: a block of the simulator's eight threads sorts 64 elements."""


@pytest.fixture(params=["forward", "reversed"])
def ops(request):
    return CudaOps(Simulator(request.param))


@pytest.mark.parametrize(
    ("shape", "dim", "dtype"),
    [
        *((shape, dim, "float32") for shape, dim in SHAPES),
        *(((5, 25), 1, dtype) for dtype in ("float64", "float16", "int8", "uint64", "bool")),
        *(((130,), 0, dtype) for dtype in ("bool", "float16")),
    ],
)
def test_argsort_is_stable(ops, dtype, shape, dim):
    x = np.random.default_rng(0).integers(0, 6, shape).astype(dtype)
    for descending in (False, True):
        found, wanted = (
            mt.tensor(x, backend=b).argsort(dim, descending) for b in (ops, mt.get_backend("numpy"))
        )
        assert (found.shape, found.dtype) == (wanted.shape, mt.int64)
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())


@pytest.mark.parametrize("length", [4, 30, 130])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_orders_nan_infinity_and_zeros_like_numpy_backend(ops, length, descending):
    values = [np.nan, -np.inf, np.inf, 0.0, -0.0, 1.0, -1.0, 3e38]
    x = np.random.default_rng(0).choice(values, (2, length)).astype("f4")
    found, wanted = (mt.tensor(x, backend=b).sort(1, descending) for b in (ops, "numpy"))
    np.testing.assert_array_equal(found.indices.numpy(), wanted.indices.numpy())
    np.testing.assert_array_equal(found.values.numpy(), wanted.values.numpy())


def test_argsort_accepts_views(ops):
    x = np.random.default_rng(0).integers(0, 9, (6, 8)).astype("i4")
    views = [
        lambda x: x.T,
        lambda x: x[::2, 1::3],
        lambda x: x.flip(0),
        lambda x: x[0].expand(3, 8),
    ]
    for view in views:
        found, wanted = (view(mt.tensor(x, backend=b)).argsort(0).numpy() for b in (ops, "numpy"))
        np.testing.assert_array_equal(found, wanted)


def test_gradient_of_topk_goes_to_selected_elements(ops):
    x = mt.tensor([3.0, 1.0, 2.0], requires_grad=True, backend=ops)
    (x.topk(2).values * mt.tensor([1.0, 10.0], backend=ops)).sum().backward()
    assert x.grad.tolist() == [1, 0, 10]


@pytest.mark.parametrize(
    ("shape", "dim", "count"),
    [((10**4, 10), 1, 1), ((500, 2048), 1, 1), ((3, 2049), 1, 2), ((2**20,), 0, 10)],
)
def test_argsort_has_few_launches_and_no_copies(shape, dim, count):
    x = mt.zeros(shape, backend=CudaOps(machine := Recorder()))
    machine.record = Record()
    x.argsort(dim)
    record = machine.record
    assert (len(record.launches), record.downloads, record.uploads) == (count, 0, 0)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", "bool"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 50), (0,)])
@pytest.mark.parametrize("name", ["unique", "unique_consecutive"])
def test_unique_matches_numpy_backend(ops, name, shape, dtype):
    values = [0, 1, 2, 3] if dtype[0] in "iub" else [np.nan, -np.inf, 0.0, -0.0, 1.5]
    x = np.random.default_rng(0).choice(values, shape).astype(dtype)
    found, wanted = (
        getattr(mt.tensor(x, backend=b), name)(return_inverse=True, return_counts=True)
        for b in (ops, "numpy")
    )
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    values, inverse, counts = (each.numpy() for each in found)
    np.testing.assert_array_equal(values, wanted[0].numpy())
    np.testing.assert_array_equal(counts, wanted[2].numpy())
    # The inverse of a nan in NumPy may be the index of any nan.
    np.testing.assert_array_equal(values[inverse], x)
    np.testing.assert_array_equal(np.sort(inverse, None), np.sort(wanted[1].numpy(), None))


def test_unique_synchronizes_once_and_uploads_nothing():
    x = mt.ones(9, backend=CudaOps(machine := Recorder("forward")))
    x.unique()
    machine.record = Record()
    assert x.unique(return_counts=True)[1].shape == (1,)
    assert [machine.record.uploads, machine.record.synchronisations] == [0, 1]
