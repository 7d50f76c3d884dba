"""The chain rule: one step back, from a value to its inputs."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_autodiff import Context, GradientError, History, Scalar
from mt_operators import OPERATORS

NUMBERS = st.floats(0.5, 4.0)
NAMES = ["mul", "add", "sub", "div", "pow", "maximum", "hypot", "logaddexp", "lerp", "sin", "exp"]


@pytest.mark.parametrize("name", NAMES)
@given(point=st.tuples(NUMBERS, NUMBERS, NUMBERS), derivative=NUMBERS)
def test_shares_are_partial_derivatives_times_the_derivative(
    name: str, point: tuple[float, ...], derivative: float
) -> None:
    operator = OPERATORS[name]
    inputs = [Scalar(number) for number in point[: operator.arity]]
    result: Scalar = getattr(Scalar, name)(*inputs)
    known = (*(scalar.data for scalar in inputs), result.data)
    assert result.history is not None
    steps = result.history.chain_rule(derivative)
    assert [parent for parent, _ in steps] == inputs
    assert [share for _, share in steps] == [
        derivative * partial(*known) for partial in operator.partials
    ]


@pytest.mark.parametrize("needed", list(itertools.product([True, False], repeat=3)))
def test_only_what_wants_a_derivative_gets_one(needed: tuple[bool, ...]) -> None:
    inputs = [
        Scalar(number, requires_grad=wants)
        for number, wants in zip((1.0, 2.0, 0.75), needed, strict=True)
    ]
    result: Scalar = inputs[0].lerp(*inputs[1:])
    shares = {id(parent): share for parent, share in result.chain_rule(2.0)}
    for scalar, wants, share in zip(inputs, needed, (0.5, 1.5, 2.0), strict=True):
        assert shares.get(id(scalar)) == (share if wants else None)


def test_a_gate_that_is_shut_stops_an_infinite_derivative() -> None:
    x, y = Scalar(1.0), Scalar(2.0)
    assert [share for _, share in x.maximum(y).chain_rule(float("inf"))] == [0.0, float("inf")]


def test_a_derivative_that_is_a_scalar_is_recorded() -> None:
    x, derivative = Scalar(3.0), Scalar(2.0)
    ((_, share),) = x.square().chain_rule(derivative)
    assert (share.data, share.is_constant()) == (12.0, False)


def history(backward: Callable[..., object], *inputs: Scalar) -> History:
    class Made:
        def backward(self, ctx: Context, derivative: float, /) -> object:
            return backward(ctx.saved_values, derivative)

    ctx = Context((True,) * len(inputs))
    ctx.save_for_backward(7.0)
    return History(Made(), ctx, inputs, "made")


def test_a_function_gets_what_it_saved_and_may_leave_an_input_out() -> None:
    x, y = Scalar(1.0), Scalar(2.0)
    one = history(lambda saved, derivative: saved[0] * derivative, x)
    assert one.vjp(2.0) == (14.0,)
    two = history(lambda saved, derivative: (None, derivative), x, y)
    assert two.vjp(2.0) == (None, 2.0)
    assert [(parent is y, share) for parent, share in two.chain_rule(2.0)] == [(True, 2.0)]


@pytest.mark.parametrize("results", [(), (1.0,), (1.0, 2.0, 3.0)])
def test_there_is_one_share_for_each_input(results: tuple[float, ...]) -> None:
    wrong = history(lambda saved, derivative: results, Scalar(1.0), Scalar(2.0))
    with pytest.raises(GradientError, match=rf"returned {len(results)} derivative.* for 2 input"):
        wrong.chain_rule(1.0)
