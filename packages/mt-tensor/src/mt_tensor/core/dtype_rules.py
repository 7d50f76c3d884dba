"""What only tensors need to know of an operator, beside its row in the operator table.

Most operators need no entry: they take every dtype. The rows beside the core have theirs in
`pointwise/dtype_rules.py`. Register the rules of an operator of your own before you add its row.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_operators import OPERATORS, Operator


@dataclass(frozen=True)
class DTypeRules:
    """The dtype rules of an operator, and its form in place.

    Attributes:
        takes_bool: whether it takes tensors of bool.
        for_bool: the operator that is applied to tensors of bool instead of one of integers; or,
            where bool is refused, the one that the message recommends.
        takes_integers: whether it computes with integers; else they become floats.
        closed: whether any two integers have an integer as result. If not, as for a quotient by 0,
            integers are checked first.
        chooses: whether the first argument is a condition, of bool.
        in_place: whether there is a form that stores the result in the first argument.
    """

    takes_bool: bool = True
    for_bool: str = ""
    takes_integers: bool = True
    closed: bool = True
    chooses: bool = False
    in_place: bool = True


DTYPE_RULES: dict[str, DTypeRules] = {
    "neg": DTypeRules(takes_bool=False, for_bool="logical_not"),
    "sub": DTypeRules(takes_bool=False, for_bool="ne"),
    "pow": DTypeRules(takes_bool=False, closed=False),
    "relu": DTypeRules(takes_bool=False),
    "maximum": DTypeRules(in_place=False),
    "isnan": DTypeRules(in_place=False),
    "where": DTypeRules(chooses=True, in_place=False),
}
"""The rules of operators, by name."""

_USUAL = DTypeRules()


def dtype_rules_of(operator: Operator) -> DTypeRules:
    """Return the rules of an operator.

    One that is not in the table, such as a fused function, has the usual ones, whatever its name.
    """
    is_row = OPERATORS.get(operator.name) is operator
    return DTYPE_RULES.get(operator.name, _USUAL) if is_row else _USUAL
