"""Cached plans of calls: they do not change results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import mt_tensor as mt
from mt_fast.core.loops import WORTH_A_KERNEL
from mt_fast.small import ufuncs
from mt_operators import OPERATORS
from mt_tensor import bool_, float16, float32, float64, int64
from mt_tensor.backends.extending import row_major

FAST: Any = mt.get_backend("fast")
ROW = mt.arange(6, dtype="float32", backend="fast")._tensor
NUMBER = mt.tensor(2.0, dtype="float32", backend="fast")._tensor
TABLE = ROW.view((2, 3))
assert TABLE is not None
SLICE = mt.arange(8, dtype="float32", backend="fast")[2:]._tensor
PART = SLICE.view((6,))  # a row that starts inside of its storage, like the slice
LINE = mt.arange(3, dtype="float32", backend="fast")._tensor
LARGE = mt.arange(WORTH_A_KERNEL, dtype="float32", backend="fast").view(128, 128)._tensor
BACKWARDS = ROW.slice((5,), (-1,), (6,))


def _planned(name: str, inputs: Any, shape: Any, dtype: Any = float32) -> Any:
    """Return the result of a plan, after comparing it with the result in a view."""
    running = FAST.elementwise(OPERATORS[name].value)
    out = row_major(shape, dtype)
    planned = running.plan(out, tuple([data.layout for data in inputs]))
    computed = planned(*inputs)
    expected = FAST.empty(shape, dtype)
    running((expected,), *inputs)
    assert (computed.shape, computed.dtype) == (expected.shape, expected.dtype)
    assert computed.is_contiguous()
    assert np.array_equal(FAST.to_host(computed), FAST.to_host(expected))
    return computed


@pytest.mark.parametrize(
    ("inputs", "shape"),
    [
        (lambda: (ROW, ROW), (6,)),
        (lambda: (ROW, NUMBER), (6,)),
        (lambda: (NUMBER, ROW), (6,)),
        (lambda: (NUMBER, NUMBER), ()),
        (lambda: (PART, ROW), (6,)),
        (lambda: (SLICE, ROW), (6,)),
        (lambda: (TABLE, NUMBER), (2, 3)),
        (lambda: (TABLE, LINE), (2, 3)),  # small operands are copied to rows
        (lambda: (BACKWARDS, ROW), (6,)),
        (lambda: (ROW.view((3, 2)), TABLE.permute(1, 0)), (3, 2)),
        (lambda: (LARGE, LARGE), (128, 128)),
        (lambda: (LARGE, LARGE.permute(1, 0)), (128, 128)),
        (lambda: (LARGE, LARGE.slice((0, 127), (1, -1), (128, 128))), (128, 128)),
    ],
)
def test_every_layout_has_a_plan(inputs: Callable[[], Any], shape: Any) -> None:
    _planned("maximum", inputs(), shape)
    _planned("sub", inputs(), shape)  # by NumPy, if it is small


def test_types() -> None:
    half = mt.arange(6, backend="fast").half()._tensor
    _planned("maximum", (half, half), (6,), float16)
    _planned("add", (half, half), (6,), float16)
    whole = mt.arange(6, backend="fast")._tensor
    _planned("mul", (whole, whole), (6,), int64)
    double = mt.arange(6, dtype="float64", backend="fast")._tensor
    _planned("exp", (double,), (6,), float64)
    found = _planned("lt", (ROW, NUMBER), (6,), bool_)
    assert FAST.to_host(found).tolist() == [True, True, False, False, False, False]
    _planned("where", (found, ROW, NUMBER), (6,))


def test_large_tensors_are_computed_on_all_threads() -> None:
    large = mt.zeros(FAST.parallel_from, backend="fast")._tensor
    assert np.all(FAST.to_host(_planned("exp", (large,), large.shape)) == 1.0)


def test_one_repeated_element() -> None:
    down = NUMBER.like((8, 1), (0, 0), NUMBER.offset)
    across = NUMBER.like((1, 6), (0, 0), NUMBER.offset)
    for inputs, shape in (((down, across), (8, 6)), ((across, ROW.view((1, 6))), (1, 6))):
        _planned("maximum", inputs, shape)


def test_empty_tensors_have_no_plan() -> None:
    empty = mt.zeros(0, 3, backend="fast")._tensor
    running = FAST.elementwise(OPERATORS["exp"].value)
    assert running.plan(empty.layout, (empty.layout,)) is None
    assert running(empty.layout, empty).shape == (0, 3)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(sorted(ufuncs.EXACT_STEPS)),
    arrays("f4", (2, 7), elements=st.floats(width=32)),
    st.sampled_from(["float32", "float64", "float16"]),
)
def test_numpy_gives_the_same_bits_as_the_kernel(name: str, values: Any, dtype: str) -> None:
    """Below and above the size from which kernels are used."""
    with np.errstate(over="ignore"):
        x, y = (mt.tensor(row, backend="fast").to(dtype) for row in values)
    arguments = (x, y)[: OPERATORS[name].arity]
    results = []
    for limit in (10**9, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FAST, "parallel_from", limit)
            out = getattr(mt, name)(*arguments)
            # IEEE 754 defines neither sign nor payload of nan.
            results.append(out.nan_to_num(0.0, None, None) if out.is_floating_point() else out)
    assert results[0].dtype is results[1].dtype
    assert results[0].numpy().tobytes() == results[1].numpy().tobytes()


def test_several_results() -> None:
    formula = OPERATORS["mul"].gradient((True, True))
    left, right = FAST.elementwise(formula)(row_major((6,), float32), ROW, ROW, PART, ROW)
    assert FAST.to_host(left).tolist() == (np.arange(6.0) * np.arange(2.0, 8.0)).tolist()
    assert FAST.to_host(right).tolist() == (np.arange(6.0) ** 2).tolist()


def test_results_can_be_modified_and_viewed() -> None:
    x = mt.ones(6, backend="fast")
    y = x + x
    first = y.view(2, 3)[0]
    y += 1.0
    assert first.tolist() == [3.0, 3.0, 3.0]
    assert (y.view(2, 3).mT + 0.0).tolist() == [[3.0, 3.0]] * 3
