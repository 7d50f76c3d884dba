"""OperatorTable: adding operators, aliases, listeners, lookups, errors."""

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from mt_operators import (
    OPERATORS,
    OperatorError,
    OperatorExistsError,
    OperatorTable,
    TracingError,
    UnknownOperatorError,
)
from mt_operators.core.elementary import exp


def test_add_rejects_function_that_converts_to_float() -> None:
    table = OperatorTable()
    with pytest.raises(TracingError, match="converts a value to float"):
        table.add("gamma", lambda x: math.gamma(x) + 1.0, lambda x, out: out)
    assert len(table) == 0
    table.add("turns", lambda x: x / math.tau, lambda x, out: 1.0 / math.tau)


def test_alias_names_its_operator_and_must_be_new() -> None:
    table = OperatorTable()
    table.add("half", lambda x: x * 0.5, lambda x, out: 0.5, aliases=("halved",))
    assert table.aliases == {"halved": "half"}
    with pytest.raises(OperatorExistsError, match="called 'half' exists"):
        table.add("quarter", lambda x: x * 0.25, lambda x, out: 0.25, aliases=("half",))


def test_add_rejects_name_taken_by_a_listener() -> None:
    table = OperatorTable()
    table.for_each(lambda row: None, is_reserved=lambda name: name == "shape")
    with pytest.raises(OperatorExistsError, match="operator or a method called 'shape'"):
        table.add("shape", lambda x: x, lambda x, out: 1.0)
    assert "shape" not in table


def test_for_each_reports_present_and_future_operators() -> None:
    table = OperatorTable()
    table.add("cube", lambda x: x * x * x, lambda x, out: 3 * x * x)
    seen: list[str] = []
    table.for_each(lambda row: seen.append(row.name))
    table.add("half", lambda x: x / 2, lambda x, out: 0.5)
    assert seen == ["cube", "half"] == list(table)


def test_lookup_and_add_raise_typed_errors() -> None:
    with pytest.raises(UnknownOperatorError, match="'sigmod'. Did you mean 'sigmoid'"):
        OPERATORS["sigmod"]
    with pytest.raises(OperatorExistsError, match="'exp'"):
        OPERATORS.add("exp", exp, lambda x, out: out)
    with pytest.raises(OperatorError, match="takes 1 argument.*2 partial"):
        OPERATORS.add("bad", exp, exp, exp)
    with pytest.raises(OperatorError, match="identifier"):
        OPERATORS.add("two words", exp, exp)


def identity(x: float) -> float:
    return x


BINARY = {"function": lambda x, y: x * y}
UNARY_MESSAGE = r"with respect to 'x' takes {}. .* its output: write it as lambda x, out: \.\.\."
BINARY_MESSAGE = r"with respect to '{}' takes \(x, y\). .*: write it as lambda x, y, out: \.\.\."


@pytest.mark.parametrize(
    ("row", "message"),
    [
        *(({"name": name}, "give a Python identifier") for name in ("two words", "class", "", 3)),
        *(({"name": name}, "without a leading underscore") for name in ("_mine", "__add__")),
        ({"result": "banana"}, "'banana'; give one of number, real, bool"),
        ({"partials": ()}, r"takes 1 argument.s. but 0 partial"),
        ({"partials": (lambda x, out: 1.0,) * 2}, r"takes 1 argument.s. but 2 partial"),
        ({**BINARY}, r"takes 2 argument.s. but 1 partial"),
        ({"partials": (identity,)}, UNARY_MESSAGE.format(r"\(x: '?float.*")),
        ({"partials": (lambda x: 1.0,)}, UNARY_MESSAGE.format(r"\(x\)")),
        ({"partials": (lambda: 1.0,)}, UNARY_MESSAGE.format(r"\(\)")),
        ({"partials": (lambda x, y, out: 1.0,)}, UNARY_MESSAGE.format(r"\(x, y, out\)")),
        ({"partials": (lambda x, *, out: 1.0,)}, UNARY_MESSAGE.format(r"\(x, \*, out\)")),
        ({**BINARY, "partials": (lambda x, y: y, lambda x, y, out: x)}, BINARY_MESSAGE.format("x")),
        ({**BINARY, "partials": (lambda x, y, out: y, lambda x, y: x)}, BINARY_MESSAGE.format("y")),
        ({"partials": (2.0,)}, "partial derivative with respect to 'x' is 2.0, not a function"),
        ({"function": 3}, "its function is 3; give a function"),
        ({"function": min}, "its function is <built-in function min>; give a function"),
        ({"function": lambda: 1.0, "partials": ()}, "takes no argument; give a function"),
        ({"function": lambda *, x: x}, r"its function takes \(\*, x\).*as lambda x: \.\.\."),
        ({"domain": ((0.0, 1.0), (0.0, 1.0))}, r"1 argument.s. but 2 interval"),
        ({"domain": ((3.0, 1.0),)}, r"interval \(3.0, 1.0\) of its domain is empty"),
        ({"domain": (0.0, 1.0)}, r"domain is \(0.0, 1.0\); give a pair"),
        ({"domain": "positive"}, "domain is 'positive'; give a pair"),
        ({"identity": "0"}, "identity is '0'; give a number, or None"),
        ({"selects": "no"}, "selects is 'no'; give True or False"),
        ({"note": 3}, "note is 3; give a line of text"),
        ({"aliases": "abs"}, "aliases is 'abs'; give a tuple of names"),
    ],
)
def test_add_rejects_invalid_arguments(row: dict[str, Any], message: str) -> None:
    table = OperatorTable()
    good = {"name": "good", "function": lambda x: x, "partials": (lambda x, out: 1.0,)}
    name, function, partials = (({**good, **row}).pop(key) for key in good)
    rest = {key: value for key, value in row.items() if key not in good}
    with pytest.raises(OperatorError, match=message):
        table.add(name, function, *partials, **rest)
    assert not table


def nested(x: float) -> float:
    def inner(y: float) -> float:
        return math.gamma(y)

    return inner(x)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x if x > 0.0 else -x, "branches on a value.*where"),
        (lambda x: x**2, r"uses \*\*.*call pow"),
        (lambda x: max(x, 0.0), "branches on a value.*where"),
        (nested, "converts a value to float, as the functions of math"),
        (lambda x: x.real, "no attribute 'real'"),
        (lambda x: (x > 0.0) and x, "branches on a value.*where"),
        (eval("lambda x: x + missing"), "name 'missing' is not defined"),
        (lambda x: x + 1 / 0, "division by zero"),
        (lambda x: None, "computes with None of type NoneType"),
        (lambda x: (x, x), "computes with .* of type tuple"),
        (lambda x: x + "1", "computes with '1' of type str"),
        (lambda x: 2**x, r"uses \*\*.*call pow"),
        (math.sin, "converts a value to float, as the functions of math"),
        (float, "converts a value to float"),
    ],
)
def test_add_rejects_functions_that_cannot_be_traced(
    function: Callable[[float], float], message: str
) -> None:
    table = OperatorTable()
    with pytest.raises(TracingError, match=f"'bad': its function cannot be traced: .*{message}"):
        table.add("bad", function, lambda x, out: 1.0)
    if isinstance(function, FunctionType):
        partial = "its partial derivative with respect to 'x' cannot be traced"
        with pytest.raises(TracingError, match=f"'bad': {partial}: .*{message}"):
            table.add("bad", lambda x: x, lambda x, out: function(x))
    assert not table


@pytest.mark.parametrize("key", [5, None, ()])
def test_lookup_of_non_string_key_raises(key: object) -> None:
    assert OPERATORS.get(key) is None  # type: ignore[call-overload]
    with pytest.raises(UnknownOperatorError, match="no operator is called"):
        OPERATORS[key]  # type: ignore[index]
