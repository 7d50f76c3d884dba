"""Cached plans of elementwise calls give the same results as direct calls."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import mt_tensor as mt
from mt_fast.core.loops import KERNEL_FROM
from mt_fast.small import ufuncs
from mt_operators import OPERATORS
from mt_tensor import bool_, float16, float32, float64, int64
from mt_tensor.backends.extending import row_major

FAST: Any = mt.get_backend("fast")
VECTOR = mt.arange(6, dtype="float32", backend="fast")._tensor
SCALAR = mt.tensor(2.0, dtype="float32", backend="fast")._tensor
MATRIX = VECTOR.view((2, 3))
assert MATRIX is not None
SLICE = mt.arange(8, dtype="float32", backend="fast")[2:]._tensor
VIEW = SLICE.view((6,))  # starts inside its storage, like the slice
ROW = mt.arange(3, dtype="float32", backend="fast")._tensor
LARGE = mt.arange(KERNEL_FROM, dtype="float32", backend="fast").view(128, 128)._tensor
REVERSED = VECTOR.slice((5,), (-1,), (6,))


def _check_plan(name: str, inputs: Any, shape: Any, dtype: Any = float32) -> Any:
    """Return the result of a plan, after comparing it with that of a direct call."""
    function = FAST.elementwise(OPERATORS[name].value)
    out = row_major(shape, dtype)
    plan = function.plan(out, tuple([data.layout for data in inputs]))
    result = plan(*inputs)
    expected = FAST.empty(shape, dtype)
    function((expected,), *inputs)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    assert result.is_contiguous()
    assert np.array_equal(FAST.to_host(result), FAST.to_host(expected))
    return result


@pytest.mark.parametrize(
    ("inputs", "shape"),
    [
        (lambda: (VECTOR, VECTOR), (6,)),
        (lambda: (VECTOR, SCALAR), (6,)),
        (lambda: (SCALAR, VECTOR), (6,)),
        (lambda: (SCALAR, SCALAR), ()),
        (lambda: (VIEW, VECTOR), (6,)),
        (lambda: (SLICE, VECTOR), (6,)),
        (lambda: (MATRIX, SCALAR), (2, 3)),
        (lambda: (MATRIX, ROW), (2, 3)),  # small operands are copied to contiguous memory
        (lambda: (REVERSED, VECTOR), (6,)),
        (lambda: (VECTOR.view((3, 2)), MATRIX.permute(1, 0)), (3, 2)),
        (lambda: (LARGE, LARGE), (128, 128)),
        (lambda: (LARGE, LARGE.permute(1, 0)), (128, 128)),
        (lambda: (LARGE, LARGE.slice((0, 127), (1, -1), (128, 128))), (128, 128)),
    ],
)
def test_plan_matches_direct_call_for_every_layout(inputs: Callable[[], Any], shape: Any) -> None:
    _check_plan("maximum", inputs(), shape)
    _check_plan("sub", inputs(), shape)  # computed by NumPy if small


def test_plan_matches_direct_call_for_every_dtype() -> None:
    half = mt.arange(6, backend="fast").half()._tensor
    _check_plan("maximum", (half, half), (6,), float16)
    _check_plan("add", (half, half), (6,), float16)
    integers = mt.arange(6, backend="fast")._tensor
    _check_plan("mul", (integers, integers), (6,), int64)
    double = mt.arange(6, dtype="float64", backend="fast")._tensor
    _check_plan("exp", (double,), (6,), float64)
    less = _check_plan("lt", (VECTOR, SCALAR), (6,), bool_)
    assert FAST.to_host(less).tolist() == [True, True, False, False, False, False]
    _check_plan("where", (less, VECTOR, SCALAR), (6,))


def test_plan_of_large_tensor_runs_on_all_threads() -> None:
    large = mt.zeros(FAST.parallel_from, backend="fast")._tensor
    assert np.all(FAST.to_host(_check_plan("exp", (large,), large.shape)) == 1.0)


def test_plan_broadcasts_single_element() -> None:
    down = SCALAR.like((8, 1), (0, 0), SCALAR.offset)
    across = SCALAR.like((1, 6), (0, 0), SCALAR.offset)
    for inputs, shape in (((down, across), (8, 6)), ((across, VECTOR.view((1, 6))), (1, 6))):
        _check_plan("maximum", inputs, shape)


def test_empty_tensor_has_no_plan() -> None:
    empty = mt.zeros(0, 3, backend="fast")._tensor
    function = FAST.elementwise(OPERATORS["exp"].value)
    assert function.plan(empty.layout, (empty.layout,)) is None
    assert function(empty.layout, empty).shape == (0, 3)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(sorted(ufuncs.EXACT_STEPS)),
    arrays("f4", (2, 7), elements=st.floats(width=32)),
    st.sampled_from(["float32", "float64", "float16"]),
)
def test_numpy_and_kernel_give_the_same_bits(name: str, values: Any, dtype: str) -> None:
    """NumPy computes small tensors, and kernels compute large ones."""
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


def test_gradient_formula_returns_several_results() -> None:
    formula = OPERATORS["mul"].gradient((True, True))
    left, right = FAST.elementwise(formula)(row_major((6,), float32), VECTOR, VECTOR, VIEW, VECTOR)
    assert FAST.to_host(left).tolist() == (np.arange(6.0) * np.arange(2.0, 8.0)).tolist()
    assert FAST.to_host(right).tolist() == (np.arange(6.0) ** 2).tolist()


def test_result_can_be_viewed_and_modified_in_place() -> None:
    x = mt.ones(6, backend="fast")
    y = x + x
    first = y.view(2, 3)[0]
    y += 1.0
    assert first.tolist() == [3.0, 3.0, 3.0]
    assert (y.view(2, 3).mT + 0.0).tolist() == [[3.0, 3.0]] * 3
