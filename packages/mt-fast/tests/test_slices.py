"""index_select, index_add, scatter, argmax and copies, on one and on two threads."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_operators import OPERATORS

DTYPES = ["float32", "float64", "float16", "int8", "int64", "bool"]
SHAPES = [(5,), (1, 7), (3, 600), (70, 3), (4, 5, 6), (2, 300, 2), (3, 2, 700)]


@pytest.fixture(params=[1, 2], ids=["serial", "parallel"])
def fast(request, monkeypatch):
    backend = mt.get_backend("fast")
    before = numba.get_num_threads()
    if request.param == 2:
        monkeypatch.setattr(backend, "parallel_from", 1)
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    with mt.use_backend("fast"):
        yield backend
    numba.set_num_threads(before)


def random(shape, dtype="float64"):
    return (9 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "dim"), [(s, d) for s in SHAPES for d in range(len(s))])
def test_index_select_matches_numpy(fast, shape, dim, dtype):
    array = random(shape, dtype)
    indices = np.random.default_rng(1).integers(0, shape[dim], 9)
    for x, expected in ((mt.tensor(array), array), (mt.tensor(array).flip(0), array[::-1])):
        selected = x.index_select(dim, mt.tensor(indices))
        assert np.array_equal(selected.numpy(), expected.take(indices, dim))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
@pytest.mark.parametrize(("shape", "dim"), [(s, d) for s in SHAPES for d in range(len(s))])
def test_index_add_matches_numpy(fast, shape, dim, dtype):
    indices = np.random.default_rng(1).integers(0, shape[dim], 9)
    source = random((*shape[:dim], 9, *shape[dim + 1 :])).round().astype(dtype)
    expected = np.zeros(shape, dtype)
    np.add.at(np.moveaxis(expected, dim, 0), indices, np.moveaxis(source, dim, 0))
    for given_source in (mt.tensor(source), mt.tensor(source[..., ::-1].copy()).flip(-1)):
        added = mt.zeros(shape, dtype=dtype).index_add(dim, mt.tensor(indices), given_source)
        assert np.array_equal(added.numpy(), expected)


def test_scatter_with_smaller_index_adds_only_there(fast):
    out, source = mt.zeros(4, 6), mt.ones(3, 2)
    index = mt.tensor([[1], [0], [1]]).expand(3, 2)
    fast.scatter(source._tensor, 0, index._tensor, out._tensor, OPERATORS["add"])
    expected = np.zeros((4, 6))
    expected[0, :2], expected[1, :2] = 1, 2
    assert np.array_equal(out.numpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "float16"])
@pytest.mark.parametrize(("shape", "dim"), [(s, d) for s in SHAPES for d in range(len(s))])
def test_argmax_and_argmin_return_first_position(fast, shape, dim, dtype):
    array = random(shape, dtype) // 4
    with_nan = array.copy()
    if dtype.startswith("float"):
        with_nan[np.random.default_rng(2).random(shape) < 0.1] = np.nan
    for given_array in (array, with_nan):
        x = mt.tensor(given_array)
        assert np.array_equal(x.argmax(dim).numpy(), given_array.argmax(dim))
        assert np.array_equal(x.flip(0).argmin(dim).numpy(), given_array[::-1].argmin(dim))


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=8),
    dtype=st.sampled_from(["float32", "int8", "float64"]),
    parallel=st.booleans(),
    data=st.data(),
)
def test_copy_matches_numpy_for_every_layout(sizes, dtype, parallel, data):
    backend = mt.get_backend("fast")
    array = np.arange(np.prod(sizes)).reshape(sizes).astype(dtype)
    order = data.draw(st.permutations(range(len(sizes))))
    flipped = data.draw(st.sets(st.sampled_from(range(len(sizes)))))
    repeated = data.draw(st.integers(1, 3))
    view = mt.tensor(array, backend="fast").permute(*order).flip(*flipped)
    view = view.unsqueeze(-1).expand(*view.shape, repeated)
    expected = np.repeat(np.flip(array.transpose(order), tuple(flipped))[..., None], repeated, -1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "parallel_from", 1 if parallel else 10**9)
        copied = backend.copy(view._tensor, view._tensor.layout.contiguous)
        out = backend.empty(view.shape, view.dtype)
        backend.copy(view._tensor, out)
    assert np.array_equal(copied.array, expected)
    assert np.array_equal(out.array, expected)
