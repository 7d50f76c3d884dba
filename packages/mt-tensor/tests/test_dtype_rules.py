"""Dtype rules of operators: closed operators, known names, defaults."""

import math

import pytest

from mt_operators import OPERATORS, Operator
from mt_tensor.core.dtype_rules import DTYPE_RULES, DTypeRules, dtype_rules_of

INTEGER_OPERATORS = [
    name
    for name, operator in OPERATORS.items()
    if operator.arity == 2
    and dtype_rules_of(operator).takes_integers
    and operator.result == "number"
]


@pytest.mark.parametrize("name", INTEGER_OPERATORS)
def test_operator_is_closed_if_finite_for_all_integers(name: str) -> None:
    operator = OPERATORS[name]

    def is_finite(x: int, y: int) -> bool:
        try:
            return math.isfinite(operator.function(x, y))
        except ZeroDivisionError:
            return False

    closed = all(is_finite(x, y) for x in range(-2, 3) for y in range(-2, 3))
    assert dtype_rules_of(operator).closed == closed


def test_every_rule_belongs_to_an_operator() -> None:
    assert DTYPE_RULES.keys() <= OPERATORS.keys()
    assert {rules.bool_operator for rules in DTYPE_RULES.values()} - {""} <= OPERATORS.keys()


def test_new_operator_with_known_name_has_default_rules() -> None:
    assert not dtype_rules_of(OPERATORS["relu"]).takes_bool
    assert dtype_rules_of(Operator("relu", lambda x: x, (lambda x, out: 1.0,))) == DTypeRules()
