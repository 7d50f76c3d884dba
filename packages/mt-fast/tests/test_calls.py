"""Plans for signatures: which tensors have one, and that it changes no result."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import mt_tensor as mt
from mt_fast.core import calls
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
PART = SLICE.view((6,))  # a row that starts inside of its storage, as the slice is itself
LINE = mt.arange(3, dtype="float32", backend="fast")._tensor
LARGE = mt.arange(WORTH_A_KERNEL, dtype="float32", backend="fast").view(128, 128)._tensor
BACKWARDS = ROW.slice((5,), (-1,), (6,))


def _both(name: str, inputs: Any, shape: Any, dtype: Any = float32) -> tuple[Any, bool]:
    """Return what a call computes, having compared it, and whether a plan or NumPy computed it."""
    formula = OPERATORS[name].value
    short = True

    def general(out: Any, *inputs: Any) -> Any:
        nonlocal short
        short = False
        return FAST._run(formula, out, *inputs)

    out = row_major(shape, dtype)
    running = calls.Running(formula, FAST, general)
    planned = running.plan(out, tuple([data.layout for data in inputs]))
    computed = planned(*inputs) if planned else running(out, *inputs)
    expected = FAST._run(formula, out, *inputs)
    assert (computed.shape, computed.dtype) == (expected.shape, expected.dtype)
    assert computed.is_contiguous()
    assert np.array_equal(FAST.to_host(computed), FAST.to_host(expected))
    return computed, short


@pytest.mark.parametrize(
    ("inputs", "shape", "short"),
    [
        (lambda: (ROW, ROW), (6,), True),
        (lambda: (ROW, NUMBER), (6,), True),
        (lambda: (NUMBER, ROW), (6,), True),
        (lambda: (NUMBER, NUMBER), (), True),
        (lambda: (PART, ROW), (6,), True),
        (lambda: (SLICE, ROW), (6,), True),
        (lambda: (TABLE, NUMBER), (2, 3), True),
        (lambda: (TABLE, LINE), (2, 3), True),  # of what is small, a copy in rows
        (lambda: (BACKWARDS, ROW), (6,), True),
        (lambda: (ROW.view((3, 2)), TABLE.permute(1, 0)), (3, 2), True),
        (lambda: (LARGE, LARGE), (128, 128), True),
        (lambda: (LARGE, LARGE.permute(1, 0)), (128, 128), True),
        (lambda: (LARGE, LARGE.slice((0, 127), (1, -1), (128, 128))), (128, 128), False),
    ],
)
def test_who_takes_the_short_way(inputs: Callable[[], Any], shape: Any, short: bool) -> None:
    _, taken = _both("maximum", inputs(), shape)
    assert taken is short
    assert _both("sub", inputs(), shape)[1]  # NumPy takes all layouts


def test_types() -> None:
    half = mt.arange(6, backend="fast").half()._tensor
    assert _both("maximum", (half, half), (6,), float16)[1] is False
    assert _both("add", (half, half), (6,), float16)[1] is True
    whole = mt.arange(6, backend="fast")._tensor
    assert _both("mul", (whole, whole), (6,), int64)[1] is True
    double = mt.arange(6, dtype="float64", backend="fast")._tensor
    assert _both("exp", (double,), (6,), float64)[1] is True
    found, short = _both("lt", (ROW, NUMBER), (6,), bool_)
    assert short
    assert FAST.to_host(found).tolist() == [True, True, False, False, False, False]
    chosen = _both("where", (found, ROW, NUMBER), (6,))
    assert chosen[1] is True


def test_large_tensors_go_the_short_way_on_all_threads() -> None:
    large = mt.zeros(FAST.parallel_from, backend="fast")._tensor
    found, short = _both("exp", (large,), large.shape)
    assert short
    assert np.all(FAST.to_host(found) == 1.0)


def test_one_element_over_and_over() -> None:
    down = NUMBER.like((8, 1), (0, 0), NUMBER.offset)
    across = NUMBER.like((1, 6), (0, 0), NUMBER.offset)
    for inputs, shape in (((down, across), (8, 6)), ((across, ROW.view((1, 6))), (1, 6))):
        assert _both("maximum", inputs, shape)[1] is True


def test_empty_tensors_go_the_other_way() -> None:
    empty = mt.zeros(0, 3, backend="fast")._tensor
    assert _both("exp", (empty,), (0, 3))[1] is False


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(sorted(ufuncs.EXACT_STEPS)),
    arrays("f4", (2, 7), elements=st.floats(width=32)),
    st.sampled_from(["float32", "float64", "float16"]),
)
def test_what_numpy_computes_has_the_bits_of_the_kernel(name: str, values: Any, dtype: str) -> None:
    """Below and above the size from which kernels compute."""
    with np.errstate(over="ignore"):
        x, y = (mt.tensor(row, backend="fast").to(dtype) for row in values)
    arguments = (x, y)[: OPERATORS[name].arity]
    results = []
    for limit in (10**9, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FAST, "parallel_from", limit)
            out = getattr(mt, name)(*arguments)
            # Of nan, neither sign nor payload is told by IEEE 754.
            results.append(out.nan_to_num(0.0, None, None) if out.is_floating_point() else out)
    assert results[0].dtype is results[1].dtype
    assert results[0].numpy().tobytes() == results[1].numpy().tobytes()


def test_several_results() -> None:
    formula = OPERATORS["mul"].gradient((True, True))
    left, right = FAST.elementwise(formula)(row_major((6,), float32), ROW, ROW, PART, ROW)
    assert FAST.to_host(left).tolist() == (np.arange(6.0) * np.arange(2.0, 8.0)).tolist()
    assert FAST.to_host(right).tolist() == (np.arange(6.0) ** 2).tolist()


def test_results_can_be_changed_and_viewed() -> None:
    x = mt.ones(6, backend="fast")
    y = x + x
    first = y.view(2, 3)[0]
    y += 1.0
    assert first.tolist() == [3.0, 3.0, 3.0]
    assert (y.view(2, 3).mT + 0.0).tolist() == [[3.0, 3.0]] * 3
