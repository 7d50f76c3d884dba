"""Layouts: tensors that lie alike hold the same one."""

from __future__ import annotations

from typing import Any

import pytest

import mt_tensor as mt
from mt_tensor.core.layout import Layout, layout_of, row_major
from mt_tensor.core.strides import strides_from_shape


def layout(x: mt.Tensor) -> Layout:
    return x._tensor.layout


@pytest.mark.parametrize("shape", [(), (1,), (8,), (2, 3), (4, 0, 2), (1, 1, 5)])
def test_rows_have_one_layout_for_each_shape_and_type(shape: Any) -> None:
    whole = row_major(shape, mt.float32)
    assert whole is row_major(shape, mt.float32)
    assert whole is layout_of(mt.float32, shape)
    assert whole is not row_major(shape, mt.float64)
    assert whole.contiguous is whole
    assert whole.row_major
    assert whole.is_contiguous()
    assert (whole.shape, whole.strides) == (shape, strides_from_shape(shape))
    assert whole.repeats == (shape == ())


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_results_lie_as_their_arguments_do(backend: str) -> None:
    with mt.use_backend(backend):
        x, y = mt.ones(2, 3), mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        assert layout(x) is layout(y)
        for result in (x + y, x * 2.0, y.exp(), (x.T + 1.0).T.contiguous(), x + mt.ones(3)):
            assert layout(result) is layout(x)
        assert layout(x[0]) is layout(y[0])
        assert layout(x[1]) is not layout(x[0])
        assert layout(x.T) is layout(y.T)
        assert layout(x) is not layout(x.double())


def test_what_a_layout_says_of_views() -> None:
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
