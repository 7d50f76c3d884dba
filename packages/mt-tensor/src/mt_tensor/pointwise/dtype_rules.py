"""Dtype rules for the rows of the operator table outside the core; see `core/dtype_rules.py`."""

from __future__ import annotations

from mt_tensor.core.dtype_rules import DTYPE_RULES, DTypeRules

_NO_BOOL = DTypeRules(takes_bool=False)
_NOT_CLOSED = DTypeRules(takes_bool=False, closed=False)
_NOT_IN_PLACE = DTypeRules(in_place=False)

DTYPE_RULES |= {
    **dict.fromkeys(("abs", "clamp", "floor", "ceil", "trunc", "round", "gcd", "lcm"), _NO_BOOL),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), _NO_BOOL),
    **dict.fromkeys(("floor_divide", "remainder", "fmod"), _NOT_CLOSED),
    **dict.fromkeys(("id", "ndtr", "minimum", "isinf", "isfinite"), _NOT_IN_PLACE),
    **dict.fromkeys(
        ("softplus", "logaddexp", "log_sigmoid", "hardsigmoid", "softsign"), _NOT_IN_PLACE
    ),
    **dict.fromkeys(
        ("silu", "quick_gelu", "gelu", "gelu_tanh", "mish", "hardswish"), _NOT_IN_PLACE
    ),
    **dict.fromkeys(("leaky_relu", "elu", "celu", "selu"), _NOT_IN_PLACE),
    **dict.fromkeys(("hardtanh", "relu6"), DTypeRules(takes_bool=False, in_place=False)),
    "is_close": DTypeRules(takes_bool=False, bool_operator="eq", in_place=False),
    "bitwise_and": DTypeRules(bool_operator="logical_and"),
    "bitwise_or": DTypeRules(bool_operator="logical_or"),
    "bitwise_xor": DTypeRules(bool_operator="logical_xor"),
    "bitwise_not": DTypeRules(bool_operator="logical_not"),
    "signbit": DTypeRules(takes_integers=False, in_place=False),
}
