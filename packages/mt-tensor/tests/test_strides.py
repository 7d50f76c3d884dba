"""Strides, indices, broadcasting and views of `TensorData`, compared with NumPy."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, mutually_broadcastable_shapes

import mt_tensor as mt
from mt_tensor import TensorData
from mt_tensor.core.dtypes import float64
from mt_tensor.core.simple import SimpleOps
from mt_tensor.core.strides import (
    index_to_position,
    normalize_dims,
    shape_broadcast,
    strides_from_shape,
)
from mt_tensor.course import broadcast_index, to_index
from mt_tensor.errors import IndexingError, ShapeError

SHAPES = array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def data_of(array: np.ndarray[Any, Any]) -> TensorData:
    return SimpleOps().from_host(array.astype(np.float64))


def elements(data: TensorData | None) -> Any:
    assert data is not None
    return SimpleOps().to_host(data)


@given(SHAPES)
def test_index_to_position_and_to_index_are_row_major(shape: tuple[int, ...]) -> None:
    strides = strides_from_shape(shape)
    indices = list(itertools.product(*map(range, shape)))
    assert [index_to_position(index, strides) for index in indices] == list(range(len(indices)))
    assert [to_index(i, shape) for i in range(len(indices))] == indices


@given(SHAPES)
def test_size_0_counts_as_1_in_strides(shape: tuple[int, ...]) -> None:
    """In torch, too, an empty tensor has the strides of one with sizes of 1 instead of 0."""
    steps = np.empty([length or 1 for length in shape], np.int8).strides
    assert strides_from_shape(shape) == steps


@given(mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3, min_side=0))
def test_shape_broadcast_and_broadcast_index_match_numpy(shapes: Any) -> None:
    first, second = shapes.input_shapes
    assert shape_broadcast(first, second) == shapes.result_shape
    array = np.arange(int(np.prod(first))).reshape(first)
    broadcast = np.broadcast_to(array, shapes.result_shape)
    for index in np.ndindex(shapes.result_shape):
        assert broadcast[index] == array[broadcast_index(index, first)]


def test_shape_broadcast_of_incompatible_shapes_raises() -> None:
    with pytest.raises(
        IndexingError, match=r"\(2, 3\) and \(2, 4\).*sizes 3 and 4 in dimension -1"
    ):
        shape_broadcast((2, 3), (2, 4))


def test_normalize_dims_returns_non_negative_dims() -> None:
    assert normalize_dims(-1, 3) == (2,)
    assert normalize_dims(None, 2) == (0, 1)
    assert normalize_dims((), 2) == ()
    assert normalize_dims(-1, 0) == ()
    with pytest.raises(IndexingError, match="from -2 to 1"):
        normalize_dims(2, 2)


@given(SHAPES, st.randoms(use_true_random=False))
def test_permute_and_view_match_numpy(shape: tuple[int, ...], random: Any) -> None:
    array = np.arange(float(np.prod(shape))).reshape(shape)
    order = random.sample(range(len(shape)), len(shape))
    data, expected = data_of(array).permute(*order), array.transpose(order)
    assert np.array_equal(elements(data), expected)
    assert data.is_contiguous() == (expected.flags.c_contiguous or expected.size == 0)
    for target in ((-1,), (1, -1, 1), tuple(reversed(expected.shape)), (2, -1), (-1, 3)):
        try:
            reshaped = expected.reshape(target)
        except ValueError:
            continue
        view = data.view(reshaped.shape)
        if view is not None:
            assert np.array_equal(elements(view), reshaped)
        else:
            assert not np.shares_memory(reshaped, expected)
    flat = data.view(expected.shape)
    assert flat is not None


def test_view_of_expanded_data_is_none_if_a_copy_is_needed() -> None:
    data = data_of(np.arange(3.0)).expand((2, 4, 3))
    assert np.array_equal(elements(data.view((8, 3))), np.tile(np.arange(3.0), (8, 1)))
    assert data.view((2, 12)) is None


def test_expand_keeps_offset_and_negative_strides() -> None:
    data = TensorData(np.arange(6.0), (2, 1), (-3, 1), 4, dtype=float64)
    assert np.array_equal(elements(data.expand((3, 2, 2))), [[[4.0, 4.0], [1.0, 1.0]]] * 3)


def test_get_and_set_use_strides_and_offset() -> None:
    data = TensorData(np.arange(6.0), (2, 2), (3, 1), 1, dtype=float64)
    assert data.get((1, 1)) == 5.0
    data.set((0, 0), 9)
    assert list(data.indices()) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [data.get(i) for i in data.indices()] == [9.0, 2.0, 4.0, 5.0]
    assert data.index(data.sample()) in {1, 2, 4, 5}
    for index in ((2, 0), (0, -1), (0,)):
        with pytest.raises(IndexingError, match="outside a tensor of shape"):
            data.get(index)


def test_expand_and_permute_reject_invalid_arguments() -> None:
    data = data_of(np.zeros((2, 3)))
    with pytest.raises(ShapeError, match="only sizes of 1"):
        data.expand((2, 4))
    with pytest.raises(IndexingError, match="not a permutation of the 2"):
        data.permute(0)


VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x[x.shape[0] :],
    lambda x: x[-1:, x.shape[1] :],
    lambda x: x[:, ::2],
    lambda x: x[None, -1:0],
    lambda x: x.narrow(0, x.shape[0], 0),
    lambda x: x.narrow(1, 0, x.shape[1] // 2),
    lambda x: x.split(2, 1)[-1],
    lambda x: x.tensor_split(7)[-1],
    lambda x: x.diagonal(x.shape[1]),
    lambda x: x.diagonal(-x.shape[0]),
    lambda x: x.diagonal(1),
    lambda x: x.flip(0),
    lambda x: x.T,
    lambda x: x.unfold(1, 0, 1),
    lambda x: x.expand(2, *x.shape)[2:],
]


@given(
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.lists(st.sampled_from(VIEWS), min_size=1, max_size=4),
)
def test_offset_of_every_view_is_inside_its_storage(
    shape: tuple[int, int], views: list[Callable[[Any], Any]]
) -> None:
    """This includes empty views, since a backend may take the address of the first element."""
    base = mt.zeros(3 + shape[0] * shape[1], backend="simple")
    x = base[2:-1].view(shape)
    for view in views:
        x = view(x) if x.ndim == 2 else x
    assert 0 <= x.storage_offset() < base.numel()
    assert x.tolist() == np.zeros(x.shape).tolist()


def test_empty_slice_keeps_offset() -> None:
    data = TensorData(np.arange(7.0), (2, 3), offset=1, dtype=float64)
    for starts, lengths in (((2, 0), (0, 3)), ((0, 3), (2, 0)), ((2, 3), (0, 0))):
        assert data.slice(starts, (1, 1), lengths).offset == 1
    assert data.slice((1, 2), (1, 1), (1, 1)).offset == 6
