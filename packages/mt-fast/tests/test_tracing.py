"""Tracing formulas, and rendering them as typed statements."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_fast import TracingError
from mt_fast.rendering import PYTHON, render
from mt_fast.spelling import TABLE
from mt_fast.tracing import trace
from mt_operators import OPERATORS, Formula, LiftingError
from mt_operators.elementary import ELEMENTARY, div, exp, where
from mt_operators.testing import SPECIAL, SPECS
from mt_tensor.dtypes import DTYPES, bool_, float32, float64, int8, uint8


def formula(function, arity=1, outputs=1):
    return Formula("f", arity, outputs, function)


def executed(traced, arguments):
    """Run the rendered text of a graph on Python floats."""
    names = [f"x{i}" for i in range(len(arguments))]
    table = {**TABLE, "div": "div({0}, {1})"}
    stored = [bool_ if traced.expressions[at].truth else float64 for at in traced.outputs]
    text = render(traced, names, float64, stored, table)
    namespace = {**ELEMENTARY, "float64": float, "inf": math.inf, "nan": math.nan}
    namespace |= dict(zip(names, arguments, strict=True))
    for statement in text.statements:
        exec(statement, namespace)
    return [eval(result, namespace) for result in text.results]


@pytest.mark.parametrize("name", SPECS)
@given(data=st.data())
def test_the_text_means_what_the_operator_does(name, data):
    operator = OPERATORS[name]
    spec = SPECS[name]
    arguments = [
        data.draw(st.sampled_from(SPECIAL) | st.floats(low, high)) for low, high in spec.ranges
    ]
    wanted = operator.function(*arguments)
    (value,) = executed(trace(operator.value), arguments)
    np.testing.assert_equal(float(value), float(wanted))
    if operator.result != "truth":
        known = (2.5, *arguments, wanted)
        gradient = operator.gradient((True,) * operator.arity)
        values = gradient.function(*known)
        for ours, theirs in zip(
            executed(trace(gradient), known),
            values if gradient.outputs > 1 else (values,),
            strict=True,
        ):
            np.testing.assert_equal(ours, theirs)


def test_common_expressions_are_computed_once():
    traced = trace(formula(lambda x: exp(x) * exp(x) + exp(x)))
    assert [e.operation for e in traced.expressions] == ["argument", "exp", "mul", "add"]


def test_only_exact_identities_are_used():
    def operations(function):
        return [e.operation for e in trace(formula(function)).expressions[1:]]

    assert operations(lambda x: 1.0 * x * 1.0 / 1.0 - 0.0) == []
    assert operations(lambda x: x * -1.0) == ["neg"]
    assert operations(lambda x: -1.0 * -x) == []
    assert operations(lambda x: where(x > 0, x, x)) == []
    assert operations(lambda x: x + 0.0) == ["constant", "add"]  # -0.0 + 0.0 is 0.0
    assert operations(lambda x: x * 0.0) == ["constant", "mul"]  # nan * 0.0 is nan
    assert operations(lambda x: exp(1.0) * 0.0 + x) == ["constant", "add"]


def test_constants_that_are_equal_may_differ():
    numbers = [
        e.number
        for e in trace(formula(lambda x: (x + 0.0) * (x + -0.0) * (x + math.nan))).expressions
        if e.operation == "constant"
    ]
    assert [math.copysign(1, n) for n in numbers[:2]] == [1.0, -1.0]
    assert math.isnan(numbers[2])


def test_constants_take_the_type_of_the_computation():
    traced = trace(formula(lambda x: 2.0 * x - 0.5))
    assert render(traced, ["x"], float32, [float32], TABLE).statements == (
        "t0 = float32(2.0) * x",
        "t1 = t0 - float32(0.5)",
    )
    among_integers = render(traced, ["x"], int8, [int8], TABLE)
    assert among_integers.statements == ("t0 = int8(int8(2) * x)", "t1 = t0 - float64(0.5)")
    assert among_integers.results == ("int8(int64(t1))",)
    assert render(trace(formula(lambda x: x * -2)), ["x"], uint8, [uint8], TABLE).statements == (
        "t0 = uint8(x * uint8(254))",
    )


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
def test_rounding_leaves_whole_numbers_alone(name):
    rounded = ELEMENTARY[name]
    whole = render(trace(formula(lambda x: rounded(x) + 1)), ["x"], int8, [int8], TABLE)
    assert whole.statements == ("t0 = int8(x + int8(1))",)
    fraction = render(trace(formula(lambda x: rounded(div(x, 2)))), ["x"], int8, [int8], TABLE)
    assert fraction.statements == ("t0 = x / int8(2)", f"t1 = {name}(t0)")


def test_truth_values_are_numbers_in_arithmetic():
    (value,) = executed(trace(formula(lambda x: (x > 1.0) * x + (x < 9.0))), [3.0])
    assert value == 4.0


def test_conditions_join_arguments_and_comparisons():
    traced = trace(formula(lambda c, x: where(c & (x > 0.0) | (x < -5.0), x, 0.0), 2))
    for condition, x, wanted in ((1.0, 2.0, 2.0), (0.0, 2.0, 0.0), (0.0, -6.0, -6.0)):
        assert executed(traced, [condition, x]) == [wanted]


def test_large_integers_stay_exact():
    traced = trace(formula(lambda x: x + (2**60 + 1)))
    text = render(traced, ["x"], DTYPES["int64"], [DTYPES["int64"]], TABLE)
    assert str(2**60 + 1) in text.statements[0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x if x > 0 else -x, r"branches on a value .*where"),
        (lambda x: where(0.0 < x < 1.0, x, 0.0), "chained comparison"),
        (lambda x: 1.0 + float(x), "functions of math"),
        (lambda x: x % 2.0, "operator that kernels do not have"),
        (lambda x: x & (x + 1.0), "joins numbers"),
        (lambda x: x + "1", "computes with '1' of type str"),
        (lambda x: (1.0, 2.0)[x], "value of an integer"),
        (lambda x: (x, x), "of type tuple"),
        (lambda x: None, "computes with None"),
    ],
)
def test_what_cannot_be_traced_says_why(function, message):
    with pytest.raises(TracingError, match=message) as caught:
        trace(formula(function))
    assert "formula 'f'" in str(caught.value)
    assert isinstance(caught.value, LiftingError)


def test_the_number_of_outputs_is_checked():
    with pytest.raises(TracingError, match="should return 2"):
        trace(formula(lambda x: (x, x, x), outputs=2))


def test_graphs_can_be_read():
    text = str(trace(OPERATORS["tanh"].value))
    assert text == "e0 = argument 0\ne1 = tanh e0\nreturn e1"


def test_every_elementary_function_is_spelled():
    assert set(ELEMENTARY) <= set(TABLE) | set(PYTHON)
