"""render: traced formulas as typed statements."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_fast.core.lowering import TABLE
from mt_fast.core.rendering import PYTHON, render
from mt_operators import OPERATORS, Formula
from mt_operators.core.elementary import ELEMENTARY, div, where
from mt_operators.core.lowering import expanded
from mt_operators.core.tracing import graph_of
from mt_operators.testing import SPECIAL, SPECS
from mt_tensor import bool_, float32, float64, int8, uint8
from mt_tensor.extending import DTYPES


def formula(function, arity=1, outputs=1):
    return Formula("f", arity, outputs, function)


def trace(formula):
    """Return the graph that a kernel is generated from."""
    return expanded(graph_of(formula))


def execute(traced, arguments):
    """Run the rendered text of a graph on Python floats."""
    names = [f"x{i}" for i in range(len(arguments))]
    table = {**TABLE, "div": "div({0}, {1})"}
    stored = [bool_ if traced.expressions[at].is_bool else float64 for at in traced.outputs]
    text = render(traced, names, float64, stored, table)
    namespace = {**ELEMENTARY, "float64": float, "inf": math.inf, "nan": math.nan}
    namespace |= dict(zip(names, arguments, strict=True))
    for statement in text.statements:
        exec(statement, namespace)
    return [eval(result, namespace) for result in text.results]


@pytest.mark.parametrize("name", SPECS)
@given(data=st.data())
def test_rendered_statements_compute_value_and_gradient(name, data):
    operator = OPERATORS[name]
    spec = SPECS[name]
    arguments = [
        data.draw(st.sampled_from(SPECIAL) | st.floats(low, high)) for low, high in spec.ranges
    ]
    expected = operator.function(*arguments)
    (value,) = execute(trace(operator.value), arguments)
    np.testing.assert_equal(float(value), float(expected))
    if operator.result != "bool":
        gradient_arguments = (2.5, *arguments, expected)
        gradient = operator.gradient((True,) * operator.arity)
        values = gradient.function(*gradient_arguments)
        for ours, theirs in zip(
            execute(trace(gradient), gradient_arguments),
            values if gradient.outputs > 1 else (values,),
            strict=True,
        ):
            np.testing.assert_equal(ours, theirs)


def test_constants_have_dtype_of_the_computation():
    traced = trace(formula(lambda x: 2.0 * x - 0.5))
    assert render(traced, ["x"], float32, [float32], TABLE).statements == (
        "t0 = float32(2.0) * x",
        "t1 = t0 - float32(0.5)",
    )
    of_integers = render(traced, ["x"], int8, [int8], TABLE)
    assert of_integers.statements == ("t0 = int8(int8(2) * x)", "t1 = t0 - float64(0.5)")
    assert of_integers.results == ("int8(int64(t1))",)
    assert render(trace(formula(lambda x: x * -2)), ["x"], uint8, [uint8], TABLE).statements == (
        "t0 = uint8(x * uint8(254))",
    )


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
def test_rounding_does_not_change_integers(name):
    rounded = ELEMENTARY[name]
    of_integer = render(trace(formula(lambda x: rounded(x) + 1)), ["x"], int8, [int8], TABLE)
    assert of_integer.statements == ("t0 = int8(x + int8(1))",)
    of_quotient = render(trace(formula(lambda x: rounded(div(x, 2)))), ["x"], int8, [int8], TABLE)
    assert of_quotient.statements == ("t0 = x / int8(2)", f"t1 = {name}(t0)")


def test_bools_are_numbers_in_arithmetic():
    (value,) = execute(trace(formula(lambda x: (x > 1.0) * x + (x < 9.0))), [3.0])
    assert value == 4.0


def test_conditions_combine_arguments_and_comparisons():
    traced = trace(formula(lambda c, x: where(c & (x > 0.0) | (x < -5.0), x, 0.0), 2))
    for condition, x, expected in ((1.0, 2.0, 2.0), (0.0, 2.0, 0.0), (0.0, -6.0, -6.0)):
        assert execute(traced, [condition, x]) == [expected]


def test_large_integer_constants_stay_exact():
    traced = trace(formula(lambda x: x + (2**60 + 1)))
    text = render(traced, ["x"], DTYPES["int64"], [DTYPES["int64"]], TABLE)
    assert str(2**60 + 1) in text.statements[0]


def test_every_elementary_function_is_lowered():
    assert set(ELEMENTARY) <= set(TABLE) | set(PYTHON)
