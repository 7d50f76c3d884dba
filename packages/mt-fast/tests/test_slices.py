"""Slices and positions along a dimension, and copies between layouts, on one or more threads."""

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
def test_slices_are_read(fast, shape, dim, dtype):
    array = random(shape, dtype)
    numbers = np.random.default_rng(1).integers(0, shape[dim], 9)
    for x, wanted in ((mt.tensor(array), array), (mt.tensor(array).flip(0), array[::-1])):
        read = x.index_select(dim, mt.tensor(numbers))
        assert np.array_equal(read.numpy(), wanted.take(numbers, dim))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
@pytest.mark.parametrize(("shape", "dim"), [(s, d) for s in SHAPES for d in range(len(s))])
def test_slices_are_added(fast, shape, dim, dtype):
    numbers = np.random.default_rng(1).integers(0, shape[dim], 9)
    source = random((*shape[:dim], 9, *shape[dim + 1 :])).round().astype(dtype)
    wanted = np.zeros(shape, dtype)
    np.add.at(np.moveaxis(wanted, dim, 0), numbers, np.moveaxis(source, dim, 0))
    for given_source in (mt.tensor(source), mt.tensor(source[..., ::-1].copy()).flip(-1)):
        added = mt.zeros(shape, dtype=dtype).index_add(dim, mt.tensor(numbers), given_source)
        assert np.array_equal(added.numpy(), wanted)


def test_an_index_that_covers_a_corner_adds_there_only(fast):
    out, source = mt.zeros(4, 6), mt.ones(3, 2)
    index = mt.tensor([[1], [0], [1]]).expand(3, 2)
    fast.scatter(source._tensor, 0, index._tensor, out._tensor, OPERATORS["add"])
    wanted = np.zeros((4, 6))
    wanted[0, :2], wanted[1, :2] = 1, 2
    assert np.array_equal(out.numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "float16"])
@pytest.mark.parametrize(("shape", "dim"), [(s, d) for s in SHAPES for d in range(len(s))])
def test_the_first_of_the_largest_and_smallest_is_found(fast, shape, dim, dtype):
    array = random(shape, dtype) // 4
    holes = array.copy()
    if dtype.startswith("float"):
        holes[np.random.default_rng(2).random(shape) < 0.1] = np.nan
    for given_array in (array, holes):
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
def test_any_layout_is_copied_to_any_other(sizes, dtype, parallel, data):
    backend = mt.get_backend("fast")
    array = np.arange(np.prod(sizes)).reshape(sizes).astype(dtype)
    order = data.draw(st.permutations(range(len(sizes))))
    flipped = data.draw(st.sets(st.sampled_from(range(len(sizes)))))
    repeated = data.draw(st.integers(1, 3))
    view = mt.tensor(array, backend="fast").permute(*order).flip(*flipped)
    view = view.unsqueeze(-1).expand(*view.shape, repeated)
    wanted = np.repeat(np.flip(array.transpose(order), tuple(flipped))[..., None], repeated, -1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "parallel_from", 1 if parallel else 10**9)
        copied = backend.copy(view._tensor, view._tensor.layout.contiguous)
        out = backend.empty(view.shape, view.dtype)
        backend.copy(view._tensor, out)
    assert np.array_equal(copied.array, wanted)
    assert np.array_equal(out.array, wanted)
