"""Symbolic derivatives of graphs: the chain rule for composed functions."""

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_operators import OPERATORS, Formula
from mt_operators.core.differentiation import Evaluation, derivative, derived
from mt_operators.core.elementary import exp, log, maximum, sin, tanh, where
from mt_operators.core.lowering import evaluate
from mt_operators.core.tracing import graph_of, trace
from mt_operators.functions import floor
from mt_operators.testing import high_precision

sigmoid = OPERATORS["sigmoid"].function


def repeated_subexpression(x, y):
    inner = exp(-x * x) + y
    return inner * inner + sin(inner) * x


def where_and_maximum(x, y):
    return where(x > 0.0, x * tanh(y), -x) + maximum(x, 0.25) * y


def table_operators(x, y):
    return sigmoid(x * y) * OPERATORS["softplus"].function(y) - log(1.5 + sigmoid(x))


FUNCTIONS = [repeated_subexpression, where_and_maximum, table_operators]
"""Functions that end in a sum, so that their derivatives do not read the output."""

NUMBERS = st.floats(-2.0, 2.0).filter(lambda x: min(abs(x), abs(x - 0.25)) > 1e-3)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("argument", [0, 1])
@pytest.mark.parametrize("order", [1, 2])
@given(x=NUMBERS, y=NUMBERS)
def test_derivative_of_graph_matches_central_difference(function, argument, order, x, y):
    graph = graph_of(Formula(function.__name__, 2, 1, function))
    point = [x, y]
    for _ in range(order - 1):
        out = evaluate(graph, point)
        graph, point = derivative(graph, argument), [*point, *out]
    out = evaluate(graph, point)
    (result,) = evaluate(derivative(graph, argument), [*point, *out])
    expected = difference(function, order, argument, x, y)
    assert math.isclose(result, expected, rel_tol=1e-9, abs_tol=1e-12)


def difference(function, order, argument, *point):
    """Return the first or second derivative of a function at a point, from central differences."""
    graph = trace("f", function, 2)
    with mpmath.workdps(120):
        table, step = high_precision(mpmath), mpmath.mpf(10) ** -30

        def value_at(shift):
            shifted = [mpmath.mpf(x) + (shift if i == argument else 0) for i, x in enumerate(point)]
            return evaluate(graph, shifted, table)[0]

        if order == 1:
            return float((value_at(step) - value_at(-step)) / (2 * step))
        return float((value_at(step) - 2 * value_at(0) + value_at(-step)) / step**2)


@pytest.mark.parametrize(
    ("function", "argument", "text"),
    [
        (lambda x, y: x, 0, "1.0"),
        (lambda x, y: y * 2.0, 0, "0.0"),
        (lambda x, y: where(x > y, 3.0, 5.0), 0, "0.0"),
        (lambda x, y: floor(x), 0, "0.0"),
    ],
)
def test_constant_derivative_is_a_single_constant(function, argument, text):
    graph = derivative(trace("f", function, 2), argument)
    assert str(graph).splitlines()[-2] == f"e3 = {text}"
    assert len(graph.expressions) == 4


def test_derivative_reads_output_if_partial_of_operator_does():
    graph = derivative(trace("f", lambda x: exp(2.0 * x), 1), 0)
    assert graph.reads == (1,)
    assert evaluate(graph, [math.nan, 3.0]) == [6.0]


def test_higher_order_gradients_have_distinct_parameter_names():
    operator, names = OPERATORS["tanh"], ("x",)
    for _ in range(3):
        formula = operator.gradient((True,) * operator.arity)
        assert formula.parameters[1:-1] == names
        assert len(set(formula.parameters)) == formula.arity
        operator = derived("again", formula.parameters, graph_of(formula).single_output(0))
        names = operator.parameters


def test_derived_operator_has_value_partial_and_gradient():
    operator = derived("cubed", ["x"], trace("cubed", lambda x: x * x * x, 1))
    assert operator.parameters == ("x",)
    assert operator.function(2.0) == 8.0
    assert operator.partials[0](2.0, 8.0) == 12.0
    assert evaluate(graph_of(operator.gradient((True,))), [0.5, 2.0, 8.0]) == [6.0]


def test_evaluation_of_graph_with_two_outputs_returns_a_tuple() -> None:
    graph = graph_of(Formula("both", 1, 2, lambda x: (x * 2.0, x + 1.0)))
    assert Evaluation("both", ["x"], graph)(3.0) == (6.0, 4.0)
    assert Evaluation("first", ["x"], graph.single_output(0))(3.0) == 6.0
