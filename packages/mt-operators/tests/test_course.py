"""Functions of the course: scalar operators and higher-order functions."""

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_operators import operators

FINITE = st.floats(-100.0, 100.0)


@given(FINITE, FINITE)
def test_scalar_operators_match_python(x: float, y: float) -> None:
    assert operators.mul(x, y) == x * y
    assert operators.add(x, y) == x + y
    assert operators.neg(x) == -x
    assert operators.max(x, y) == max(x, y)
    assert operators.lt(x, y) == (x < y)
    assert operators.eq(x, x)
    assert operators.id(x) == x
    assert operators.is_close(x, x + 0.005)
    assert not operators.is_close(x, x + 0.02)
    assert operators.exp(x) == math.exp(x)
    assert operators.sigmoid(x) == pytest.approx(1 / (1 + math.exp(-x)))
    assert operators.relu(x) == max(x, 0.0)


@given(st.floats(0.01, 100.0), FINITE)
def test_log_inv_and_relu_match_their_formulas(x: float, d: float) -> None:
    assert operators.log(x) == math.log(x + 1e-6)
    assert operators.log(0.0) == math.log(1e-6)
    assert operators.log_back(x, d) == pytest.approx(d / (x + 1e-6))
    assert operators.inv(x) == 1 / x
    assert operators.inv_back(x, d) == pytest.approx(-d / x**2)
    assert operators.relu_back(x, d) == d
    assert operators.relu_back(-x, d) == 0.0


@given(st.lists(FINITE, max_size=8), st.lists(FINITE, max_size=8))
def test_higher_order_functions_match_loops(xs: list[float], ys: list[float]) -> None:
    assert list(operators.map(operators.neg)(xs)) == [-x for x in xs]
    assert list(operators.negList(xs)) == [-x for x in xs]
    assert list(operators.zipWith(operators.mul)(xs, ys)) == [
        x * y for x, y in zip(xs, ys, strict=False)
    ]
    assert list(operators.addLists(xs, ys)) == [x + y for x, y in zip(xs, ys, strict=False)]
    assert operators.sum(xs) == pytest.approx(math.fsum(xs), abs=1e-9)
    assert operators.prod(xs) == pytest.approx(math.prod(xs))
    assert operators.reduce(operators.max, -math.inf)(xs) == max(xs, default=-math.inf)


def test_reduce_combines_from_left_to_right() -> None:
    assert operators.reduce(lambda text, letter: f"({text}{letter})", "")("abc") == "(((a)b)c)"
    assert operators.reduce(lambda total, x: total - x, 10.0)([1.0, 2.0]) == 7.0


def test_map_and_zip_with_are_lazy() -> None:
    consumed = []

    def count_up() -> Iterator[float]:
        number = 0.0
        while True:
            consumed.append(number)
            yield number
            number += 1.0

    halves = iter(operators.map(lambda x: x / 2.0)(count_up()))
    sums = iter(operators.zipWith(operators.add)(halves, operators.negList(count_up())))
    assert consumed == []
    assert [next(sums), next(sums)] == [0.0, -0.5]
    assert consumed == [0.0, 0.0, 1.0, 1.0]
