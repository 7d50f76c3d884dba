"""The operators page: its curves, and its widgets in a browser."""

import math

import pytest

from mt_operators import OPERATORS
from play.curves import check, curve, evaluate, first_value, is_whole, limits, window
from play.testing import Reader, wait_for


@pytest.mark.parametrize("name", list(OPERATORS))
def test_every_operator_has_a_curve_and_a_derivative_that_a_difference_confirms(name: str) -> None:
    operator = OPERATORS[name]
    point = [first_value(operator, i) for i in range(operator.arity)]
    for argument in range(operator.arity):
        low, high = limits(operator, argument)
        drawn = curve(operator, point, argument, low, high)
        assert len(drawn.at) == len(drawn.values) == len(drawn.derivatives) > 2
        assert drawn.at == sorted(drawn.at)
        assert any(value is not None for value in drawn.values)
        bottom, top = window([*drawn.values, *drawn.derivatives])
        assert bottom < top
        checked = check(operator, point, argument)
        assert checked.value == evaluate(operator, point, argument)[0]
        if is_whole(operator):
            assert checked.numeric is None
        elif not checked.kink:
            assert checked.numeric == pytest.approx(checked.exact, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "jump"), [("sign", 0.0), ("floor", 1.0), ("inv", 0.0), ("tan", math.pi / 2)]
)
def test_a_curve_is_broken_where_it_jumps(name: str, jump: float) -> None:
    drawn = curve(OPERATORS[name], [0.5], 0, jump - 1.03, jump + 0.94)
    gaps = [at for at, value in zip(drawn.at, drawn.values, strict=True) if value is None]
    assert any(abs(at - jump) < 0.01 for at in gaps)


@pytest.mark.parametrize("name", ["abs", "relu"])
def test_a_kink_breaks_the_derivative_and_not_the_curve(name: str) -> None:
    drawn = curve(OPERATORS[name], [0.5], 0, -1.03, 0.94)
    assert None not in drawn.values
    assert None in drawn.derivatives
    assert check(OPERATORS[name], [0.0], 0).kink
    assert not check(OPERATORS[name], [0.1], 0).kink


def test_a_smooth_curve_is_whole() -> None:
    for name in ("tanh", "exp", "mul", "gelu"):
        operator = OPERATORS[name]
        drawn = curve(operator, [0.5] * operator.arity, 0, -4.0, 4.0)
        assert None not in drawn.values + drawn.derivatives


def test_a_reader_moves_along_an_operator(reader: Reader) -> None:
    reader.open("operators")
    reader.sees("tanh(x): hyperbolic tangent")
    assert "d/dx = 1 - out * out" in reader.text()
    reader.reads("value", f"{math.tanh(0.5):.6g}")
    exact = f"{1 - math.tanh(0.5) ** 2:.6g}"
    reader.reads("d/dx, from the table", exact)
    reader.reads("by a difference", exact)
    reader.slide("x", "ARROW_RIGHT", 3)
    reader.until(f"document.body.innerText.includes('{math.tanh(0.53):.6g}')")


def test_a_reader_chooses_an_operator_and_an_argument(reader: Reader) -> None:
    reader.open("operators")
    reader.choose("operator", "pow")
    reader.sees("pow(x, y): x to the power y")
    reader.press("y")
    reader.sees("d/dy, from the table")
    wait_for(lambda: reader.metric("d/dy, from the table") != "", "a derivative")
    assert float(reader.metric("d/dy, from the table")) == pytest.approx(
        0.5**1.5 * math.log(0.5), 1e-5
    )
    reader.press("The whole table")
    reader.sees(f"{len(OPERATORS)} operators")


def test_an_operator_has_an_address(reader: Reader) -> None:
    reader.open("operators?name=expit")
    reader.sees("sigmoid(x):")
    reader.open("operators?name=__import__")
    reader.sees("no operator is called '__import__'.")
    reader.sees("tanh(x): hyperbolic tangent")
    reader.open("operators?name=gcd")
    reader.sees("A function of integers has no derivative")
