"""What tensors know of operators beside their rows."""

import math

import pytest

from mt_operators import OPERATORS, Operator
from mt_tensor.core.dtype_rules import DTYPE_RULES, DTypeRules, dtype_rules_of

WITH_INTEGERS = [
    name
    for name, operator in OPERATORS.items()
    if operator.arity == 2
    and dtype_rules_of(operator).takes_integers
    and operator.result == "number"
]


@pytest.mark.parametrize("name", WITH_INTEGERS)
def test_closed_operators_have_a_value_for_all_integers(name: str) -> None:
    operator = OPERATORS[name]

    def has_value(x: int, y: int) -> bool:
        try:
            return math.isfinite(operator.function(x, y))
        except ZeroDivisionError:
            return False

    closed = all(has_value(x, y) for x in range(-2, 3) for y in range(-2, 3))
    assert dtype_rules_of(operator).closed == closed


def test_every_entry_is_about_an_operator() -> None:
    assert DTYPE_RULES.keys() <= OPERATORS.keys()
    assert {facts.for_bool for facts in DTYPE_RULES.values()} - {""} <= OPERATORS.keys()


def test_a_function_that_shares_a_name_with_an_operator_has_the_usual_facts() -> None:
    assert not dtype_rules_of(OPERATORS["relu"]).takes_bool
    assert dtype_rules_of(Operator("relu", lambda x: x, (lambda x, out: 1.0,))) == DTypeRules()
