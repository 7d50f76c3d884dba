"""Operators as text: formulas, parentheses, the command line."""

import math
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_operators import OPERATORS
from mt_operators.core.tracing import trace
from mt_operators.testing import SPECS, OpSpec
from mt_operators.text import formula_of, partial_formulas, value_formula


def with_numpy_result(function: Callable[..., float]) -> Callable[..., np.float64]:
    """Return the function with NumPy results, which may be divided by zero."""
    return lambda *numbers: np.float64(function(*numbers))


FUNCTIONS = {
    **{name: with_numpy_result(row.function) for name, row in OPERATORS.items()},
    "abs": abs,
    "inf": math.inf,
    "nan": math.nan,
}


def evaluate_text(text: str, values: dict[str, object]) -> object:
    """Evaluate a formula whose lines before the last assign subexpressions."""
    *lines, formula = text.splitlines()
    exec("\n".join(lines), values)
    return eval(formula, values)


@pytest.mark.parametrize("spec", [pytest.param(spec, id=spec.name) for spec in SPECS.values()])
@given(data=st.data())
def test_text_evaluates_to_value_and_partials_of_operator(
    spec: OpSpec, data: st.DataObject
) -> None:
    operator = OPERATORS[spec.name]
    args = data.draw(st.tuples(*(st.floats(low, high) for low, high in spec.ranges)))
    out = operator.function(*args)
    names = operator.parameters
    numbers = map(np.float64, (*args, out))  # they may be divided by zero
    values = {**FUNCTIONS, **dict(zip((*names, "out"), numbers, strict=True))}
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.setattr("mt_operators.text.DIGITS", 17)  # all digits
        assert np.array_equal(evaluate_text(value_formula(operator), values), out, equal_nan=True)
        for text, partial in zip(partial_formulas(operator), operator.partials, strict=True):
            assert np.array_equal(evaluate_text(text, values), partial(*args, out), equal_nan=True)


def test_written_formulas_have_only_needed_parentheses() -> None:
    assert value_formula(OPERATORS["logical_xor"]) == "(x != 0) != (y != 0)"
    assert value_formula(OPERATORS["logical_and"]) == "(x != 0) & (y != 0)"
    assert partial_formulas(OPERATORS["atanh"]) == ("1 / ((1 - x) * (1 + x))",)
    assert partial_formulas(OPERATORS["acos"]) == ("-1 / sqrt((1 - x) * (1 + x))",)
    assert partial_formulas(OPERATORS["pow"])[0] == (
        "y * pow(where(y == 0, where(abs(x) > 1e-37, x, 1), x), y - 1)"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("x + y", "2 + x", "x - y", "2 - x", "x * y", "2 * x", "x / y", "2 / x", "-x", "abs(x)"),
        *("x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y"),
        *("(x < y) & (y < 2)", "(x < y) | (y < 2)"),
        *("x - (y - 2)", "x / (y / 2)", "(x - y) * 2", "(x < y) == (y < 2)"),
        *("-(x + y)", "-x * y", "x * (-y)", "x - -y", "x * (-0.5)"),
    ],
)
def test_formula_of_traced_expression_equals_its_source(text: str) -> None:
    graph = trace("f", eval(f"lambda x, y: {text}"), 2)
    assert formula_of(graph, ("x", "y")) == text
    if not graph.expressions[-1].is_bool:
        assert trace("f", eval(f"lambda x, y: +({text})"), 2) == graph  # unary + is the identity


def run_command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mt_operators", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_command_prints_operators_and_suggests_close_name() -> None:
    assert run_command("asin").stdout.splitlines() == [
        "asin(x): the angle whose sine is x",
        "  value  asin(x)",
        "  d/dx   1 / sqrt((1 - x) * (1 + x))",
        "  domain -1 <= x <= 1",
    ]
    listing = run_command().stdout
    assert all(f"\n{name}(" in f"\n{listing}" for name in OPERATORS)
    unknown = run_command("tnah")
    assert unknown.returncode == 2
    assert "no operator is called 'tnah'. Did you mean 'tanh'?" in unknown.stderr


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_can_be_written(name: str) -> None:
    """`OPERATORS.add` does not check this, because it would slow down the import."""
    row = OPERATORS[name]
    assert value_formula(row)
    assert len(partial_formulas(row)) == row.arity


def test_long_formulas_name_repeated_subexpressions() -> None:
    formula = value_formula(OPERATORS["lgamma"])
    names = [line.split(" = ")[0] for line in formula.splitlines()[:-1]]
    assert names
    assert names == [f"t{i}" for i in range(len(names))]
    for name in names:
        assert len(re.findall(rf"\b{name}\b", formula)) > 2  # it is assigned, and used twice
