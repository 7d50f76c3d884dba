"""Operators written as text: the text says what the operator does."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_operators import OPERATORS, special
from mt_operators.lifting import NAMED
from mt_operators.testing import SPECS, OpSpec
from mt_operators.written import formula_of, written, written_partials

FUNCTIONS = {
    **vars(special),  # what long formulas only name
    **{name: function for function, name in NAMED.items()},
    "inf": math.inf,
    "nan": math.nan,
}


@pytest.mark.parametrize("spec", [pytest.param(spec, id=spec.name) for spec in SPECS.values()])
@given(data=st.data())
def test_the_text_computes_the_same(spec: OpSpec, data: st.DataObject) -> None:
    operator = OPERATORS[spec.name]
    args = data.draw(st.tuples(*(st.floats(low, high) for low, high in spec.ranges)))
    out = operator.function(*args)
    names = operator.parameters
    numbers = map(np.float64, (*args, out))  # which may be divided by zero
    values = {**FUNCTIONS, **dict(zip((*names, "out"), numbers, strict=True))}
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.setattr("mt_operators.written.DIGITS", 17)  # numbers as they are
        assert np.array_equal(eval(written(operator), values), out, equal_nan=True)
        for text, partial in zip(written_partials(operator), operator.partials, strict=True):
            assert np.array_equal(eval(text, values), partial(*args, out), equal_nan=True)


def test_parentheses_where_they_are_needed() -> None:
    assert written(OPERATORS["logical_xor"]) == "(x != 0) != (y != 0)"
    assert written(OPERATORS["logical_and"]) == "(x != 0) & (y != 0)"
    assert written_partials(OPERATORS["atanh"]) == ("1 / ((1 - x) * (1 + x))",)
    assert written_partials(OPERATORS["acos"]) == ("-1 / sqrt((1 - x) * (1 + x))",)
    assert written_partials(OPERATORS["pow"])[0] == (
        "y * pow(where(y == 0, where(abs(x) > 1e-37, x, 1), x), y - 1)"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("x + y", "2 + x", "x - y", "2 - x", "x * y", "2 * x", "x / y", "2 / x", "-x", "abs(x)"),
        *("x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y"),
        *("(x < y) & (y < 2)", "1 & (x < y)", "(x < y) | (y < 2)", "0 | (x < y)"),
        *("x - (y - 2)", "x / (y / 2)", "(x - y) * 2", "(x < y) == (y < 2)"),
        *("-(x + y)", "-(-x)", "-x * y", "x * (-y)", "x - -y"),
    ],
)
def test_operators_of_python_are_written_as_they_are_read(text: str) -> None:
    assert formula_of(eval(f"lambda x, y: {text}"), ("x", "y")) == text
    assert formula_of(eval(f"lambda x, y: +({text})"), ("x", "y")) == text  # says nothing


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mt_operators", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_shows_operators() -> None:
    assert run("asin").stdout.splitlines() == [
        "asin(x): the angle whose sine is x",
        "  value  asin(x)",
        "  d/dx   1 / sqrt((1 - x) * (1 + x))",
        "  domain -1 <= x <= 1",
    ]
    everything = run().stdout
    assert all(f"\n{name}(" in f"\n{everything}" for name in OPERATORS)
    wrong = run("tnah")
    assert wrong.returncode == 2
    assert "no operator is called 'tnah'. Did you mean 'tanh'?" in wrong.stderr


@pytest.mark.parametrize("name", OPERATORS)
def test_every_row_of_the_table_can_be_lifted(name: str) -> None:
    """They are not tried when they enter the table, which an import has no time for."""
    row = OPERATORS[name]
    assert written(row)
    assert len(written_partials(row)) == row.arity
