"""Python's operators for rows beside the core, `x // y` and `x & y`; see `core/rows.py`."""

from __future__ import annotations

from mt_tensor.core.rows import on_the_left, on_the_right

__floordiv__, __rfloordiv__ = on_the_left("floor_divide"), on_the_right("floor_divide")
__mod__, __rmod__ = on_the_left("remainder"), on_the_right("remainder")
__and__, __rand__ = on_the_left("bitwise_and"), on_the_right("bitwise_and")
__or__, __ror__ = on_the_left("bitwise_or"), on_the_right("bitwise_or")
__xor__, __rxor__ = on_the_left("bitwise_xor"), on_the_right("bitwise_xor")
__lshift__, __rlshift__ = on_the_left("bitwise_left_shift"), on_the_right("bitwise_left_shift")
__rshift__, __rrshift__ = on_the_left("bitwise_right_shift"), on_the_right("bitwise_right_shift")
__invert__ = on_the_left("bitwise_not")
