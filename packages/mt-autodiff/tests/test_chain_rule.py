"""History.chain_rule: one step of backpropagation, from a result to its inputs."""

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
def test_chain_rule_multiplies_partials_by_upstream_derivative(
    name: str, point: tuple[float, ...], derivative: float
) -> None:
    operator = OPERATORS[name]
    inputs = [Scalar(number) for number in point[: operator.arity]]
    result: Scalar = getattr(Scalar, name)(*inputs)
    known = (*(scalar.data for scalar in inputs), result.data)
    assert result.history is not None
    steps = result.history.chain_rule(derivative)
    assert result.history.chain_rule(derivative) == steps  # it keeps the graph
    assert [parent for parent, _ in steps] == inputs
    assert [d for _, d in steps] == [derivative * partial(*known) for partial in operator.partials]


@pytest.mark.parametrize("needed", list(itertools.product([True, False], repeat=3)))
def test_chain_rule_skips_inputs_without_requires_grad(needed: tuple[bool, ...]) -> None:
    inputs = [
        Scalar(number, requires_grad=requires_grad)
        for number, requires_grad in zip((1.0, 2.0, 0.75), needed, strict=True)
    ]
    result: Scalar = inputs[0].lerp(*inputs[1:])
    derivatives = {id(parent): d for parent, d in result.chain_rule(2.0)}
    for scalar, requires_grad, expected in zip(inputs, needed, (0.5, 1.5, 2.0), strict=True):
        assert derivatives.get(id(scalar)) == (expected if requires_grad else None)


def test_zero_partial_stops_infinite_derivative() -> None:
    x, y = Scalar(1.0), Scalar(2.0)
    assert [d for _, d in x.maximum(y).chain_rule(float("inf"))] == [0.0, float("inf")]


def test_chain_rule_records_a_scalar_derivative() -> None:
    x, derivative = Scalar(3.0), Scalar(2.0)
    ((_, result),) = x.square().chain_rule(derivative)
    assert (result.data, result.is_constant()) == (12.0, False)


def history(backward: Callable[..., object], *inputs: Scalar) -> History:
    class Recorded:
        def backward(self, ctx: Context, derivative: float, /) -> object:
            return backward(ctx.saved_values, derivative)

    ctx = Context((True,) * len(inputs))
    ctx.save_for_backward(7.0)
    return History(Recorded(), ctx, inputs, "recorded")


def test_vjp_gets_saved_values_and_may_return_none() -> None:
    x, y = Scalar(1.0), Scalar(2.0)
    one = history(lambda saved, derivative: saved[0] * derivative, x)
    assert one.vjp(2.0) == (14.0,)
    two = history(lambda saved, derivative: (None, derivative), x, y)
    assert two.vjp(2.0) == (None, 2.0)
    assert [(parent is y, d) for parent, d in two.chain_rule(2.0)] == [(True, 2.0)]


@pytest.mark.parametrize("results", [(), (1.0,), (1.0, 2.0, 3.0)])
def test_chain_rule_raises_for_wrong_number_of_derivatives(results: tuple[float, ...]) -> None:
    wrong = history(lambda saved, derivative: results, Scalar(1.0), Scalar(2.0))
    with pytest.raises(GradientError, match=rf"returned {len(results)} derivative.* for 2 input"):
        wrong.chain_rule(1.0)
