"""Tests of the methods that every backend implements, with random shapes and several dtypes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

import mt_tensor as mt
from mt_operators import OPERATORS, Formula, Operator
from mt_operators.core.elementary import sqrt
from mt_operators.core.row import zero
from mt_tensor.backends import TensorBackend, get_backend, use_backend
from mt_tensor.conformance.layouts import LAYOUTS
from mt_tensor.core.dtypes import DTYPES, Array
from mt_tensor.core.layout import row_major
from mt_tensor.testing.specs import ARRAY_TYPES

UFUNCS = {"add": np.add, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


def integers(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Return small integers, whose sums and products are exact in every dtype used here."""
    return np.random.default_rng(seed).integers(-2, 3, shape)


@pytest.mark.parametrize("dtype", sorted(ARRAY_TYPES))
def test_round_trip_through_host_preserves_values(backend: TensorBackend, dtype: str) -> None:
    array = integers((3, 4)).astype(DTYPES[dtype].numpy)
    for layout in LAYOUTS.values():
        x = layout(array, backend)
        assert x.dtype is DTYPES[dtype]
        assert np.array_equal(x.numpy(), array)
        assert np.array_equal(x.clone().numpy(), array)
        assert x.clone().is_contiguous()
    assert mt.zeros(0, 3, dtype=dtype, backend=backend).tolist() == []
    assert mt.full((2,), 1, dtype=dtype, backend=backend).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("source", "target"), list(itertools.product(sorted(ARRAY_TYPES), repeat=2))
)
def test_dtype_conversion_matches_numpy(backend: TensorBackend, source: str, target: str) -> None:
    array = np.array([[0, 1, 2], [3, 100, 127]]).astype(DTYPES[source].numpy)
    if DTYPES[source].kind == "float":
        array = array + np.array(0.5, array.dtype)
    for layout in (LAYOUTS["contiguous"], LAYOUTS["reversed"]):
        result = layout(array, backend).to(target)
        assert result.dtype is DTYPES[target]
        assert np.array_equal(result.numpy(), array.astype(DTYPES[target].numpy))


PRODUCT = Formula("product", 3, 2, lambda x, y, number: (x * y + number, x - number))
"""A formula of several inputs and results."""


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_formula_broadcasts_inputs(backend: TensorBackend, dtype: str, layout: str) -> None:
    x, y = integers((3, 1, 4)).astype(dtype), integers((2, 1), 1).astype(dtype)
    number = 2 if dtype == "int32" else 0.5
    out = row_major((3, 2, 4), DTYPES[dtype])
    views = [LAYOUTS[layout](each, backend)._tensor for each in (x, y)]
    total, rest = backend.elementwise(PRODUCT)(out, *views, number)
    for result, wanted in ((total, x * y + number), (rest, x - number)):
        assert result.layout is out
        right = np.broadcast_to(wanted, out.shape).astype(dtype)
        assert np.array_equal(backend.to_host(result), right)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_formula_writes_into_views_and_inputs(backend: TensorBackend, layout: str) -> None:
    """One output is new memory in some layout, the other is an input."""
    x, y = integers((3, 4)).astype("f4"), integers((4,), 1).astype("f4")
    into, changed = (LAYOUTS[layout](each, backend)._tensor for each in (x * 0, x))
    row = mt.tensor(y, backend=backend)._tensor
    backend.elementwise(PRODUCT)((into, changed), changed, row, 2.0)
    assert np.array_equal(backend.to_host(into), x * y + 2.0)
    assert np.array_equal(backend.to_host(changed), x - 2.0)
    less = backend.elementwise(OPERATORS["lt"].value)
    result = LAYOUTS[layout](np.zeros((3, 4), bool), backend)._tensor
    less((result,), changed, 0.0)
    assert np.array_equal(backend.to_host(result), x - 2.0 < 0.0)


@pytest.mark.parametrize("target", ["float32", "int64", "float16", "bool"])
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_copy_converts_dtype_in_every_layout(
    backend: TensorBackend, layout: str, target: str
) -> None:
    array = integers((3, 4)).astype("f4")
    source = LAYOUTS["stepped"](array, backend)._tensor
    wanted = array.astype(DTYPES[target].numpy)
    out = LAYOUTS[layout](np.zeros_like(wanted), backend)._tensor
    backend.copy(source, out)
    new = backend.copy(source, row_major((3, 4), DTYPES[target]))
    assert new.is_contiguous()
    for copied in (out, new):
        assert copied.dtype is DTYPES[target]
        assert np.array_equal(backend.to_host(copied), wanted)


@settings(max_examples=30, deadline=None)
@given(
    shape=array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4),
    name=st.sampled_from(sorted(UFUNCS)),
    dtype=st.sampled_from(["float32", "float64", "int64"]),
    layout=st.sampled_from(sorted(LAYOUTS)),
    data=st.data(),
)
def test_reduce_matches_numpy(
    backend_name: str, shape: Any, name: str, dtype: str, layout: str, data: st.DataObject
) -> None:
    dims = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1)) if shape else st.just(set())))
    if OPERATORS[name].identity is None and any(shape[d] == 0 for d in dims):
        return  # undefined
    array = integers(shape).astype(dtype)
    backend = get_backend(backend_name)
    source = LAYOUTS[layout](array, backend)
    wanted = UFUNCS[name].reduce(array, axis=dims, keepdims=True) if dims else array
    for keepdim in (True, False):
        out = backend.reduce(OPERATORS[name], source._tensor, dims, keepdim)
        assert out.is_contiguous()
        assert out.dtype is source.dtype
        left_out = () if keepdim else dims
        assert np.array_equal(backend.to_host(out), np.squeeze(wanted, left_out))


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_reduce_reads_every_element(
    backend: TensorBackend, name: str, dims: tuple[int, ...]
) -> None:
    """A difference in any single element changes the result."""
    for position, number in itertools.product(range(24), (0.0, 2.0)):
        array = np.ones((2, 3, 4), np.float32)
        array.flat[position] = number
        wanted = UFUNCS[name].reduce(array, axis=dims, keepdims=True)
        source = mt.tensor(array, backend=backend)
        out = backend.reduce(OPERATORS[name], source._tensor, dims, True)
        assert np.array_equal(backend.to_host(out), wanted)


@pytest.mark.parametrize("name", ["add", "mul"])
def test_reduce_over_empty_dimension_gives_identity(backend: TensorBackend, name: str) -> None:
    source = mt.zeros(2, 0, 3, backend=backend)
    out = backend.reduce(OPERATORS[name], source._tensor, (1,), True)
    assert np.array_equal(backend.to_host(out), np.full((2, 1, 3), OPERATORS[name].identity))


@pytest.mark.parametrize("shape", [(3, 2), (1, 2), (3, 0), (0, 2)])
def test_reduce_with_custom_operator_matches_numpy(
    backend: TensorBackend, shape: tuple[int, ...]
) -> None:
    """The operator is not in the table, so a backend has to compile its formula."""
    roots = Operator("roots", lambda x, y: x + y + 2.0 * sqrt(x * y), (zero, zero), identity=0.0)
    source = mt.tensor(np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape), backend=backend)
    out = backend.to_host(backend.reduce(roots, source._tensor, (0,)))
    np.testing.assert_allclose(out, np.sqrt(source.numpy()).sum(0) ** 2)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_reduce_with_nan_and_infinity_matches_numpy(backend: TensorBackend, name: str) -> None:
    array = np.array([[1, np.nan], [np.inf, 1], [np.inf, -np.inf], [-np.inf, 2]], np.float32)
    source = mt.tensor(array, backend=backend)
    out = backend.reduce(OPERATORS[name], source._tensor, (1,), True)
    with np.errstate(all="ignore"):
        wanted = UFUNCS[name].reduce(array, axis=1, keepdims=True)
    assert np.array_equal(backend.to_host(out), wanted, equal_nan=True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_sum_of_negative_zeros_is_positive_zero(
    backend: TensorBackend, dtype: str, layout: str
) -> None:
    """Every sum starts with 0, even of one element; other reductions do not."""
    for shape in ((), (1,), (1, 40), (40, 1), (3, 2), (33, 17), (2, 1, 3)):
        zeros = LAYOUTS[layout](-np.zeros(shape, dtype), backend)
        for dim in (None, *range(len(shape))):
            for result in (zeros.sum(dim), zeros.mean(dim), zeros.nansum(dim)):
                assert not np.signbit(np.asarray(result)).any(), (shape, dim)
            assert np.signbit(np.asarray(zeros.amax(dim))).all(), (shape, dim)
        for dim in range(len(shape)):
            assert not np.signbit(np.asarray(zeros.cumsum(dim))).any(), (shape, dim)


def test_long_sums_keep_precision(backend: TensorBackend) -> None:
    x = mt.full((100, 30), 0.1, backend=backend)
    assert x.sum().item() == pytest.approx(300.0, rel=1e-5)
    ones = mt.full((3000,), 1, dtype="float16", backend=backend)
    assert ones.sum().item() == 3000.0  # a sum in float16 would stop at 2048


@settings(max_examples=25, deadline=None)
@given(
    batch=array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
    n=st.integers(0, 7),
    m=st.integers(0, 7),
    k=st.integers(0, 7),
    dtype=st.sampled_from(["float32", "float64", "int32"]),
    layouts=st.tuples(st.sampled_from(sorted(LAYOUTS)), st.sampled_from(sorted(LAYOUTS))),
)
def test_matmul_matches_numpy(
    backend_name: str, batch: Any, n: int, m: int, k: int, dtype: str, layouts: tuple[str, str]
) -> None:
    a, b = integers((*batch, n, m)).astype(dtype), integers((*batch, m, k), 1).astype(dtype)
    with use_backend(backend_name):
        backend = get_backend()
        result = LAYOUTS[layouts[0]](a, backend) @ LAYOUTS[layouts[1]](b, backend)
        assert np.array_equal(result.numpy(), a @ b)


@pytest.mark.parametrize("shapes", [((3, 2, 4), (3, 4, 2)), ((2, 1, 3, 2), (5, 2, 4))])
def test_batched_matmul_matches_numpy(backend: TensorBackend, shapes: Any) -> None:
    a, b = (integers(shape, seed).astype("f4") for seed, shape in enumerate(shapes))
    product = mt.tensor(a, backend=backend) @ mt.tensor(b, backend=backend)
    assert np.array_equal(product.numpy(), a @ b)


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((4, 2, 3), (3,)), ((0,), (0, 2))]
)
def test_matmul_of_vectors_matches_numpy(backend: TensorBackend, shapes: Any) -> None:
    a, b = (integers(shape, seed).astype("f4") for seed, shape in enumerate(shapes))
    for layout in LAYOUTS.values():
        product = layout(a, backend) @ layout(b, backend)
        assert product.is_contiguous()
        assert np.array_equal(product.numpy(), a @ b)


@pytest.mark.parametrize(("n", "m", "k"), [(19, 35, 17), (18, 18, 18)])
def test_matmul_larger_than_one_tile_matches_numpy(
    backend: TensorBackend, n: int, m: int, k: int
) -> None:
    a, b = integers((n, m)).astype("f4"), integers((m, k), 1).astype("f4")
    x, y = mt.tensor(a, backend=backend), mt.tensor(b, backend=backend)
    transposed = mt.tensor(np.array(b.T), backend=backend).T
    assert np.array_equal((x @ y).numpy(), a @ b)
    assert np.array_equal((x @ transposed).numpy(), a @ b)


@settings(max_examples=25, deadline=None)
@given(
    shape=array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4),
    layout=st.sampled_from(sorted(LAYOUTS)),
    dtype=st.sampled_from(["float32", "int64"]),
    data=st.data(),
)
def test_gather_and_scatter_match_numpy(
    backend_name: str, shape: Any, layout: str, dtype: str, data: st.DataObject
) -> None:
    dim = data.draw(st.integers(0, len(shape) - 1))
    part = tuple(data.draw(st.integers(0, e)) if d != dim else 5 for d, e in enumerate(shape))
    index = np.random.default_rng(1).integers(0, shape[dim], part)
    array, source = integers(shape).astype(dtype), integers(part, 2).astype(dtype)
    backend = get_backend(backend_name)
    where = LAYOUTS[layout](index, backend)._tensor

    grid = list(np.ogrid[tuple(slice(length) for length in part)])
    grid[dim] = index
    out = backend.gather(LAYOUTS[layout](array, backend)._tensor, dim, where)
    assert out.is_contiguous()
    assert np.array_equal(backend.to_host(out), array[tuple(grid)])

    for name, ufunc in UFUNCS.items():
        target = LAYOUTS[layout](array, backend)
        wanted = array.copy()
        ufunc.at(wanted, tuple(grid), source)
        value = LAYOUTS[layout](source, backend)._tensor
        backend.scatter(value, dim, where, target._tensor, OPERATORS[name])
        assert np.array_equal(target.numpy(), wanted), name


@pytest.mark.parametrize(
    ("shape", "dim", "part"),
    [((12,), 0, (1,)), ((12,), 0, (5,)), ((3, 4), 0, (1, 4)), ((3, 4), 1, (3, 1)), ((1,), 0, (1,))],
)
def test_gather_of_few_elements_matches_numpy(
    backend: TensorBackend, shape: tuple[int, ...], dim: int, part: tuple[int, ...]
) -> None:
    array = integers(shape).astype("f4")
    x = mt.tensor(array, backend=backend, requires_grad=True)
    index = np.random.default_rng(0).integers(0, shape[dim], part)
    read = x.gather(dim, mt.tensor(index, backend=backend))
    assert np.array_equal(read.detach().numpy(), np.take_along_axis(array, index, dim))
    read.sum().backward()
    assert x.grad is not None
    assert x.grad.numpy().sum() == index.size


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("count", [4, 1, 0])
def test_gather_with_expanded_index_selects_slices(
    backend: TensorBackend, layout: str, count: int
) -> None:
    """An index with strides of 0 selects whole slices, or the same part of each slice."""
    array = integers((3, 4, 2)).astype("f4")
    index = np.random.default_rng(0).integers(0, 2, count)
    source, where = (LAYOUTS[layout](each, backend)._tensor for each in (array, index))
    for dim, part in itertools.product(range(3), (0, 1)):
        strides = [0, 0, 0]
        strides[dim] = where.strides[0]
        shape = [length - part for length in array.shape]
        shape[dim] = count
        named = where.like(tuple(shape), tuple(strides), where.offset)
        slices = backend.gather(source, dim, named)
        assert slices.is_contiguous()
        wanted = np.take(array, index, dim)[tuple(slice(length) for length in shape)]
        assert np.array_equal(backend.to_host(slices), wanted)


def test_scatter_without_operator_replaces_elements(backend: TensorBackend) -> None:
    out = mt.zeros(2, 3, backend=backend)
    index = mt.tensor([[2, 0], [1, 2]], backend=backend)
    source = mt.tensor([[1.0, 2.0], [3.0, 4.0]], backend=backend)
    backend.scatter(source._tensor, 1, index._tensor, out._tensor)
    assert out.tolist() == [[2, 0, 1], [0, 3, 4]]


@pytest.mark.parametrize("negative", [False, True], ids=["from the front", "from both ends"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_checked_indices_wraps_negatives_and_rejects_out_of_range(
    backend: TensorBackend, dtype: str, negative: bool
) -> None:
    first = -5 if negative and DTYPES[dtype].is_signed else 0
    values = np.arange(first, 5).astype(dtype)[:, None] * np.ones(3, dtype)
    where = ("here()", "something")
    for layout in LAYOUTS.values():
        index = layout(values, backend)._tensor
        safe = backend.checked_indices(index, 5, where, negative)
        assert safe.dtype is mt.int64
        assert np.array_equal(backend.to_host(safe), values.astype(np.int64) % 5)
    nothing = backend.from_host(np.zeros((0, 2), dtype))
    assert backend.checked_indices(nothing, 0, where, negative).shape == (0, 2)
    wrong = [(5, 5), (int(np.iinfo(dtype).max), 5), (0, 0)]
    wrong += [(first - 1, 5)] if DTYPES[dtype].is_signed else []
    for value, length in wrong:
        one = backend.from_host(np.array([0, value, 0], dtype))
        message = rf"here\(\): index {value} is out of range for something with {length} element"
        with pytest.raises(mt.errors.IndexingError, match=message):
            backend.to_host(backend.checked_indices(one, length, where, negative))
        backend.synchronize()  # the error is reported only once


def test_backend_works_after_index_error(backend: TensorBackend) -> None:
    x = mt.arange(12.0).view(3, 4)
    with pytest.raises(mt.errors.IndexingError, match=r"gather\(\): index 3 .* dimension 0 with 3"):
        _ = (x.gather(0, mt.tensor([[2, 3]])) + 1).sum().item()
    with pytest.raises(mt.errors.IndexingError, match=r"scatter_add\(\): index -1 .* dimension 1"):
        _ = x.scatter_add(1, mt.tensor([[0, -1]]), x).tolist()
    assert x.gather(0, mt.tensor([[2, 1]])).tolist() == [[8, 5]]
    assert x.tolist() == np.arange(12.0).reshape(3, 4).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_same_seed_gives_same_random_numbers_as_numpy_backend(
    backend: TensorBackend, dtype: str
) -> None:
    draws: list[Callable[[], mt.Tensor]] = [
        *(lambda size=size: mt.rand(size, dtype=dtype) for size in (1, 8, 0, 5, 37)),
        lambda: mt.randn(3, 4, dtype=dtype),
        lambda: mt.rand((), dtype=dtype),
        lambda: mt.empty(3, 4, dtype=dtype).T.uniform_(1, 2),
        lambda: mt.empty(3, dtype=dtype).normal_(),
        lambda: mt.normal(mt.rand(2, 5, dtype=dtype), 0.5),
        lambda: mt.rand(2, 5, dtype=dtype).multinomial(3),
        lambda: mt.randint(9, (4,)),
        lambda: mt.empty(3, dtype="bool").bernoulli_(),
        lambda: mt.full((9,), 0.5, dtype=dtype).bernoulli(),
        lambda: mt.empty(9, dtype=dtype).bernoulli_(0.3),
        lambda: mt.randperm(9),
    ]
    mt.manual_seed(5)
    here = [draw() for draw in draws]
    with use_backend("numpy"):
        mt.manual_seed(5)
        for one, draw in zip(here, draws, strict=True):
            other = draw()
            assert one.dtype is other.dtype
            assert one.backend is backend
            if one.dtype.is_floating_point:  # formulas may differ in the last digit
                rounding = 4 * mt.finfo(one.dtype).eps
                np.testing.assert_allclose(one._numbers(), other._numbers(), rounding, rounding)
            else:
                assert np.array_equal(one.numpy(), other.numpy())
