"""What only tensors need to know of an operator, beside its row in the operator table.

Most operators need no entry: they take every dtype, and have a form in place. Register the rules of
an operator of your own before you add its row.
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


_NO_BOOL = DTypeRules(takes_bool=False)
_NOT_CLOSED = DTypeRules(takes_bool=False, closed=False)
_NOT_IN_PLACE = DTypeRules(in_place=False)

DTYPE_RULES: dict[str, DTypeRules] = {
    **dict.fromkeys(
        ["abs", "relu", "clamp", "floor", "ceil", "trunc", "round", "gcd", "lcm"], _NO_BOOL
    ),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), _NO_BOOL),
    **dict.fromkeys(["pow", "floor_divide", "remainder", "fmod"], _NOT_CLOSED),
    **dict.fromkeys(
        ["id", "ndtr", "maximum", "minimum", "isnan", "isinf", "isfinite"], _NOT_IN_PLACE
    ),
    **dict.fromkeys(
        ["softplus", "logaddexp", "log_sigmoid", "hardsigmoid", "softsign"], _NOT_IN_PLACE
    ),
    **dict.fromkeys(
        ["silu", "quick_gelu", "gelu", "gelu_tanh", "mish", "hardswish"], _NOT_IN_PLACE
    ),
    **dict.fromkeys(["leaky_relu", "elu", "celu", "selu"], _NOT_IN_PLACE),
    "hardtanh": DTypeRules(takes_bool=False, in_place=False),
    "relu6": DTypeRules(takes_bool=False, in_place=False),
    "neg": DTypeRules(takes_bool=False, for_bool="logical_not"),
    "sub": DTypeRules(takes_bool=False, for_bool="ne"),
    "is_close": DTypeRules(takes_bool=False, for_bool="eq", in_place=False),
    "bitwise_and": DTypeRules(for_bool="logical_and"),
    "bitwise_or": DTypeRules(for_bool="logical_or"),
    "bitwise_xor": DTypeRules(for_bool="logical_xor"),
    "bitwise_not": DTypeRules(for_bool="logical_not"),
    "signbit": DTypeRules(takes_integers=False, in_place=False),
    "where": DTypeRules(chooses=True, in_place=False),
}
"""The rules of operators, by name."""

_USUAL = DTypeRules()


def dtype_rules_of(operator: Operator) -> DTypeRules:
    """Return the rules of an operator.

    One that is not in the table, such as a fused function, has the usual ones, whatever its name.
    """
    name = operator.name
    is_row = name in OPERATORS and OPERATORS[name] is operator
    return DTYPE_RULES.get(name, _USUAL) if is_row else _USUAL
