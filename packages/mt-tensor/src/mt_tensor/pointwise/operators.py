"""Python operators for rows outside the core, such as `x // y` and `x & y`; see `core/rows.py`."""

from __future__ import annotations

from mt_tensor.core.rows import operator_method, reflected_method

__floordiv__, __rfloordiv__ = operator_method("floor_divide"), reflected_method("floor_divide")
__mod__, __rmod__ = operator_method("remainder"), reflected_method("remainder")
__and__, __rand__ = operator_method("bitwise_and"), reflected_method("bitwise_and")
__or__, __ror__ = operator_method("bitwise_or"), reflected_method("bitwise_or")
__xor__, __rxor__ = operator_method("bitwise_xor"), reflected_method("bitwise_xor")
__lshift__, __rlshift__ = (
    operator_method("bitwise_left_shift"),
    reflected_method("bitwise_left_shift"),
)
__rshift__, __rrshift__ = (
    operator_method("bitwise_right_shift"),
    reflected_method("bitwise_right_shift"),
)
__invert__ = operator_method("bitwise_not")
