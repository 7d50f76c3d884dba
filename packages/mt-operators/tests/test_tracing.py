"""Tracing: formulas as graphs, simplifications, errors, unread inputs."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt_operators import OPERATORS, Formula, TracingError
from mt_operators.core.elementary import ELEMENTARY, exp, where
from mt_operators.core.graph import PYTHON
from mt_operators.core.lowering import evaluate, expanded, lowered
from mt_operators.core.tracing import drop_unused, graph_of
from mt_operators.testing import SPECIAL, SPECS


def formula(function, arity=1, outputs=1):
    return Formula("f", arity, outputs, function)


def graph_in_table(name, gradient):
    operator = OPERATORS[name]
    return graph_of(operator.gradient((True,) * operator.arity) if gradient else operator.value)


def inputs_of(name):
    """Return a strategy for the upstream gradient, the arguments and the output of an operator."""
    ranges = [(-2.0, 2.0), *SPECS[name].ranges, (-2.0, 2.0)]
    return st.tuples(*(st.sampled_from(SPECIAL) | st.floats(low, high) for low, high in ranges))


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=20)
@given(data=st.data())
def test_graph_evaluates_to_value_of_its_formula(name, data):
    operator = OPERATORS[name]
    numbers = data.draw(inputs_of(name))
    value, gradient = operator.value, operator.gradient((True,) * operator.arity)
    for formula, given_numbers in ((value, numbers[1:-1]), (gradient, numbers)):
        expected = formula.function(*given_numbers)
        expected = expected if isinstance(expected, tuple) else (expected,)
        graph = graph_in_table(name, formula is gradient)
        for each in (graph, expanded(graph)):
            values = evaluate(each, given_numbers)
            # nan equals nan, and 0.0 differs from -0.0
            assert [str(float(value)) for value in values] == [str(float(w)) for w in expected]


@pytest.mark.parametrize("name", SPECS)
def test_expanded_graph_has_only_elementary_operations(name):
    known = {"argument", "constant", "abs", *PYTHON, *ELEMENTARY}
    for gradient in (False, True):
        graph = expanded(graph_in_table(name, gradient))
        assert {expression.operation for expression in graph.expressions} <= known


def test_common_subexpressions_are_computed_once():
    traced = graph_of(formula(lambda x: exp(x) * exp(x) + exp(x)))
    assert [e.operation for e in traced.expressions] == ["argument", "exp", "mul", "add"]


def test_simplifications_are_exact():
    def operations(function):
        return [e.operation for e in graph_of(formula(function)).expressions[1:]]

    assert operations(lambda x: 1.0 * x * 1.0 / 1.0 - 0.0) == []
    assert operations(lambda x: x * -1.0) == operations(lambda x: -1.0 * x) == ["neg"]
    assert operations(lambda x: -1.0 * -x) == []
    assert operations(lambda x: exp(x) * -1.0) == ["exp", "neg"]
    assert operations(lambda x: abs(-x)) == ["abs"]
    assert operations(lambda x: where(x > 0, x, x)) == []
    # An inner where with the same condition is dropped.
    chosen = ["constant", "gt", "constant", "where"]
    assert operations(lambda x: where(x > 0, where(x > 0, x, 1.0), 2.0)) == chosen
    assert operations(lambda x: where(x > 0, 2.0, where(x > 0, 1.0, x))) == chosen
    assert operations(lambda x: -where(x > 0, 1.0, 2.0)) == [
        *chosen[:2],
        "constant",
        "constant",
        "where",
    ]
    assert operations(lambda x: -where(x > 0, x, 2.0)) == [*chosen, "neg"]
    assert operations(lambda x: x + 0.0) == ["constant", "add"]  # -0.0 + 0.0 is 0.0
    assert operations(lambda x: x * 0.0) == ["constant", "mul"]  # nan * 0.0 is nan
    assert operations(lambda x: exp(1.0) * 0.0 + x) == ["constant", "add"]


def test_comparisons_are_zero_or_one_in_arithmetic():
    graph = graph_of(formula(lambda x: (x > 0.0) + 2.0 * (x > 1.0)))
    assert [evaluate(graph, [x])[0] for x in (-1.0, 0.5, 2.0)] == [0.0, 1.0, 3.0]


def test_zeros_of_different_sign_and_nan_stay_distinct_constants():
    numbers = [
        e.number
        for e in graph_of(formula(lambda x: (x + 0.0) * (x + -0.0) * (x + math.nan))).expressions
        if e.operation == "constant"
    ]
    assert [math.copysign(1, n) for n in numbers[:2]] == [1.0, -1.0]
    assert math.isnan(numbers[2])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x if x > 0 else -x, r"branches on a value .*where"),
        (lambda x: where(0.0 < x < 1.0, x, 0.0), "chained comparison"),
        (lambda x: 1.0 + float(x), "functions of math"),
        (lambda x: x // 2.0, r"differs between floats and kernels .*call floor_divide"),
        (lambda x: x % 2.0, "differs between floats and kernels"),
        (lambda x: x & (x + 1.0), "combines numbers"),
        (lambda x: x + "1", "computes with '1' of type str"),
        (lambda x: (1.0, 2.0)[x], "converts a value to an integer"),
        (lambda x: (x, x), "of type tuple"),
        (lambda x: None, "computes with None"),
    ],
)
def test_untraceable_function_raises_error_with_reason(function, message):
    with pytest.raises(TracingError, match=message) as caught:
        assert graph_of(formula(function))
    assert "formula 'f'" in str(caught.value)


def test_function_with_wrong_number_of_outputs_raises():
    with pytest.raises(TracingError, match="should return 2"):
        assert graph_of(formula(lambda x: (x, x, x), outputs=2))


def test_str_of_graph_lists_its_expressions():
    text = str(graph_of(OPERATORS["tanh"].value))
    assert text == "e0 = argument 0\ne1 = tanh e0\nreturn e1"


def test_atomic_operators_are_not_expanded():
    graph = graph_of(OPERATORS["abs"].gradient((True,)))
    assert "sign" not in str(expanded(graph))
    assert str(expanded(graph, atomic=["sign"])).splitlines()[-3:] == [
        "e3 = sign e1",
        "e4 = mul e0 e3",
        "return e4",
    ]
    assert "ndtr" in str(graph_of(OPERATORS["gelu"].value))
    value = OPERATORS["ndtr"].value
    assert str(lowered(value, ["ndtr"])) == "e0 = argument 0\ne1 = ndtr e0\nreturn e1"
    assert lowered(value) == expanded(graph_of(value))


@pytest.mark.parametrize(
    ("partial", "expected"),
    [
        (lambda c: where(c > 0.0, 1.0, 0.0), "where x0 0.0"),
        (lambda c: where(c > 0.0, 0.0, 1.0), "where 0.0 x0"),
        (lambda c: where(c > 0.0, -1.0, 0.0), "where neg 0.0"),
        (lambda c: where(c > 0.0, 3.0, 0.0), "where mul 0.0"),
    ],
)
def test_zero_derivative_known_from_condition_needs_one_where(partial, expected):
    """If the condition alone decides whether the derivative is 0, nothing is compared with 0."""

    def guarded(x0, c):
        derivative = partial(c)
        return where(derivative == 0.0, 0.0, x0 * derivative)

    graph = graph_of(formula(guarded, 2))
    last = graph.expressions[graph.outputs[0]]
    names = {"argument": "x0", "constant": "0.0"}
    branches = [graph.expressions[at].operation for at in last.operands[1:]]
    assert " ".join((last.operation, *(names.get(side, side) for side in branches))) == expected
    assert sum(e.operation == "where" for e in graph.expressions) == 1


@pytest.mark.parametrize(
    "partial",
    [
        lambda c, y: where(c > 0.0, 1.0, y),
        lambda c, y: where(c > 0.0, y, 0.0),
        lambda c, y: where(c > 0.0, 0.0, y),
        lambda c, y: where(c > 0.0, 1.0, 2.0),
    ],
)
def test_derivative_not_decided_by_condition_is_compared_with_zero(partial):
    def guarded(x, c, y):
        derivative = partial(c, y)
        return where(derivative == 0.0, 0.0, x * derivative)

    operations = [e.operation for e in graph_of(formula(guarded, 3)).expressions]
    assert operations.count("where") == 2
    assert "eq" in operations


@pytest.mark.parametrize("name", [name for name in SPECS if OPERATORS[name].result != "bool"])
@given(data=st.data())
def test_narrowed_gradient_omits_unread_inputs(name, data):
    operator = OPERATORS[name]
    needed = (True,) * operator.arity
    given_values = data.draw(inputs_of(name))
    full = operator.gradient(needed)
    reduced, reads = drop_unused(full)
    assert reduced.arity == len(reads)
    assert reduced.parameters == tuple(full.parameters[i] for i in reads)
    assert reads[0] == 0
    expected = full.function(*given_values)
    found = reduced.function(*(given_values[i] for i in reads))
    assert str(found) == str(expected)  # nan equals nan, and 0.0 differs from -0.0


def test_narrowed_lists_the_inputs_that_are_read():
    assert drop_unused(OPERATORS["add"].gradient((True, True)))[1] == (0,)
    assert drop_unused(OPERATORS["tanh"].gradient((True,)))[1] == (0, 2)
    assert drop_unused(OPERATORS["mul"].gradient((True, False)))[1] == (0, 2)
