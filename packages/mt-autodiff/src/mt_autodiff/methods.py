"""Optional methods of `Scalar`: conversion to numbers and text, and pickling."""

from __future__ import annotations

import math
from typing import Any

from mt_autodiff.core.registration import register_methods
from mt_autodiff.core.scalar import Scalar


class Methods:
    """The methods that `register_methods` adds to `Scalar`; none of them is recorded."""

    __slots__ = ()

    @property
    def grad(self: Any) -> Any:
        """The derivative, under torch's name."""
        return self.derivative

    @grad.setter
    def grad(self: Any, value: Any) -> None:
        self.derivative = value

    def __int__(self: Any) -> int:
        return int(float(self))

    def __trunc__(self: Any) -> int:
        return math.trunc(float(self))

    def __floor__(self: Any) -> int:
        return math.floor(float(self))

    def __ceil__(self: Any) -> int:
        return math.ceil(float(self))

    def __round__(self: Any, ndigits: int | None = None) -> float:
        return round(float(self), ndigits)

    def __format__(self: Any, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __reduce__(self: Any) -> tuple[Any, ...]:
        return Scalar, (self.data, self.name, self.requires_grad)


register_methods(Scalar, Methods)
