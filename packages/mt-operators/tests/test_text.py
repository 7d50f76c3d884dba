"""Operators written as text: the text says what the operator does."""

import math
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
from mt_operators.text import formula_of, written, written_partials


def dividing(function: Callable[..., float]) -> Callable[..., np.float64]:
    """Return a function whose numbers may be divided by zero."""
    return lambda *numbers: np.float64(function(*numbers))


FUNCTIONS = {
    **{name: dividing(row.function) for name, row in OPERATORS.items()},
    "abs": abs,
    "inf": math.inf,
    "nan": math.nan,
}


def value_of(text: str, values: dict[str, object]) -> object:
    """Return what a formula computes, of which the lines before the last give names to parts."""
    *lines, formula = text.splitlines()
    exec("\n".join(lines), values)
    return eval(formula, values)


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
        patch.setattr("mt_operators.text.DIGITS", 17)  # numbers as they are
        assert np.array_equal(value_of(written(operator), values), out, equal_nan=True)
        for text, partial in zip(written_partials(operator), operator.partials, strict=True):
            assert np.array_equal(value_of(text, values), partial(*args, out), equal_nan=True)


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
        *("(x < y) & (y < 2)", "(x < y) | (y < 2)"),
        *("x - (y - 2)", "x / (y / 2)", "(x - y) * 2", "(x < y) == (y < 2)"),
        *("-(x + y)", "-x * y", "x * (-y)", "x - -y"),
    ],
)
def test_operators_of_python_are_written_as_they_are_read(text: str) -> None:
    graph = trace("f", eval(f"lambda x, y: {text}"), 2)
    assert formula_of(graph, ("x", "y")) == text
    if not graph.expressions[-1].is_bool:
        assert trace("f", eval(f"lambda x, y: +({text})"), 2) == graph  # says nothing


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
def test_every_row_of_the_table_can_be_written(name: str) -> None:
    """They are not tried when they enter the table, which an import has no time for."""
    row = OPERATORS[name]
    assert written(row)
    assert len(written_partials(row)) == row.arity


def test_long_formulas_give_names_to_what_they_repeat() -> None:
    lines = written(OPERATORS["lgamma"]).splitlines()
    assert len(lines) > 1
    assert [line.split(" = ")[0] for line in lines[:-1]] == [f"t{i}" for i in range(len(lines) - 1)]
