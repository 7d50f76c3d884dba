"""Dtype rules of operators: which dtypes they accept, and whether they have an in-place form.

Operators without an entry accept every dtype. Rows outside the core have their rules in
`pointwise/dtype_rules.py`. Register the rules of your own operator before you add its row.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_operators import OPERATORS, Operator


@dataclass(frozen=True)
class DTypeRules:
    """The dtype rules of an operator, and whether it has an in-place form.

    Attributes:
        takes_bool: whether it accepts bool tensors.
        bool_operator: the operator that replaces an integer operator on bool tensors; if bool is
            not accepted, the operator that the error message recommends.
        takes_integers: whether it computes with integers; else they are converted to floats.
        closed: whether any two integers have an integer result. If not, as for division by 0,
            integers are checked first.
        has_condition: whether the first argument is a bool condition.
        in_place: whether it has a form that stores the result in the first argument.
    """

    takes_bool: bool = True
    bool_operator: str = ""
    takes_integers: bool = True
    closed: bool = True
    has_condition: bool = False
    in_place: bool = True


DTYPE_RULES: dict[str, DTypeRules] = {
    "neg": DTypeRules(takes_bool=False, bool_operator="logical_not"),
    "sub": DTypeRules(takes_bool=False, bool_operator="ne"),
    "pow": DTypeRules(takes_bool=False, closed=False),
    "relu": DTypeRules(takes_bool=False),
    "maximum": DTypeRules(in_place=False),
    "isnan": DTypeRules(in_place=False),
    "where": DTypeRules(has_condition=True, in_place=False),
}
"""The rules of operators, by name."""

_DEFAULT_RULES = DTypeRules()


def dtype_rules_of(operator: Operator) -> DTypeRules:
    """Return the rules of an operator.

    Operators outside the table, such as fused functions, have the default rules, whatever their
    name.
    """
    is_row = OPERATORS.get(operator.name) is operator
    return DTYPE_RULES.get(operator.name, _DEFAULT_RULES) if is_row else _DEFAULT_RULES
