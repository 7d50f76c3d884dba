"""Layouts: cached objects of shape and strides, and their properties."""

from __future__ import annotations

from typing import Any

import pytest

import mt_tensor as mt
from mt_tensor.core.layout import Layout, layout_of, row_major
from mt_tensor.core.strides import strides_from_shape


def layout(x: mt.Tensor) -> Layout:
    return x._tensor.layout


@pytest.mark.parametrize("shape", [(), (1,), (8,), (2, 3), (4, 0, 2), (1, 1, 5)])
def test_row_major_layout_is_cached_for_each_shape_and_dtype(shape: Any) -> None:
    cached = row_major(shape, mt.float32)
    assert cached is row_major(shape, mt.float32)
    assert cached is layout_of(mt.float32, shape)
    assert cached is not row_major(shape, mt.float64)
    assert cached.contiguous is cached
    assert cached.row_major
    assert cached.is_contiguous()
    assert (cached.shape, cached.strides) == (shape, strides_from_shape(shape))
    assert cached.repeats == (shape == ())


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_tensors_with_equal_layouts_share_one_object(backend: str) -> None:
    with mt.use_backend(backend):
        x, y = mt.ones(2, 3), mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        assert layout(x) is layout(y)
        for result in (x + y, x * 2.0, y.exp(), (x.T + 1.0).T.contiguous(), x + mt.ones(3)):
            assert layout(result) is layout(x)
        assert layout(x[0]) is layout(y[0])
        assert layout(x[1]) is not layout(x[0])
        assert layout(x.T) is layout(y.T)
        assert layout(x) is not layout(x.double())


def test_layouts_of_views_report_order_contiguity_and_repetition() -> None:
    x = mt.ones(4, 6)
    assert layout(x[2:]).row_major
    assert layout(x[2:]).contiguous is row_major((2, 6), mt.float32)
    assert not layout(x[:, 1:]).is_contiguous()
    assert not layout(x.T).row_major
    assert layout(mt.ones(()).expand((3, 3))).repeats
    assert layout(mt.ones(3, 1).expand((3, 3))).size == 9
    strided = layout_of(mt.float32, (4, 1), (1, 7))
    assert strided.is_contiguous()  # a size of 1 may have any stride
    assert not strided.row_major
