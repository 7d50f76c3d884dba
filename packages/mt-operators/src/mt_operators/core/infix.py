"""`Infix`: Python operators for types that define `__operator__`.

`x + 1` calls `x.__operator__("add", (x, 1))`, with the names of the operator table. The scalars of
stage 1 and the symbols of a compiler differ only in their `__operator__`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self


class Infix:
    """Mixin that maps Python operators to the operators of the table.

    Combine bools with `&` and `|`, since `and`, `or` and `if` need a known value.
    """

    __slots__ = ()

    @abstractmethod
    def __operator__(self, name: str, operands: tuple[Any, ...]) -> Self:
        """Apply the operator `name`, or return NotImplemented to try the other operand."""

    def __add__(self, other: Any) -> Self:
        return self.__operator__("add", (self, other))

    def __radd__(self, other: Any) -> Self:
        return self.__operator__("add", (other, self))

    def __sub__(self, other: Any) -> Self:
        return self.__operator__("sub", (self, other))

    def __rsub__(self, other: Any) -> Self:
        return self.__operator__("sub", (other, self))

    def __mul__(self, other: Any) -> Self:
        return self.__operator__("mul", (self, other))

    def __rmul__(self, other: Any) -> Self:
        return self.__operator__("mul", (other, self))

    def __truediv__(self, other: Any) -> Self:
        return self.__operator__("div", (self, other))

    def __rtruediv__(self, other: Any) -> Self:
        return self.__operator__("div", (other, self))

    def __floordiv__(self, other: Any) -> Self:
        return self.__operator__("floor_divide", (self, other))

    def __rfloordiv__(self, other: Any) -> Self:
        return self.__operator__("floor_divide", (other, self))

    def __mod__(self, other: Any) -> Self:
        return self.__operator__("remainder", (self, other))

    def __rmod__(self, other: Any) -> Self:
        return self.__operator__("remainder", (other, self))

    def __divmod__(self, other: Any) -> tuple[Self, Self]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Self, Self]:
        return other // self, other % self

    def __pow__(self, other: Any) -> Self:
        return self.__operator__("pow", (self, other))

    def __rpow__(self, other: Any) -> Self:
        return self.__operator__("pow", (other, self))

    def __neg__(self) -> Self:
        return self.__operator__("neg", (self,))

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self.__operator__("abs", (self,))

    def __lt__(self, other: Any) -> Self:
        return self.__operator__("lt", (self, other))

    def __le__(self, other: Any) -> Self:
        return self.__operator__("le", (self, other))

    def __gt__(self, other: Any) -> Self:
        return self.__operator__("gt", (self, other))

    def __ge__(self, other: Any) -> Self:
        return self.__operator__("ge", (self, other))

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        return self.__operator__("eq", (self, other))

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return self.__operator__("ne", (self, other))

    __hash__ = object.__hash__  # by identity, although == returns another value

    def __and__(self, other: Any) -> Self:
        return self.__operator__("logical_and", (self, other))

    def __rand__(self, other: Any) -> Self:
        return self.__operator__("logical_and", (other, self))

    def __or__(self, other: Any) -> Self:
        return self.__operator__("logical_or", (self, other))

    def __ror__(self, other: Any) -> Self:
        return self.__operator__("logical_or", (other, self))
