"""Padding: inputs surrounded by a constant, or by what they hold; see `mt_nn.functional.pad`.

The numbers in the names say how many dimensions are padded, the last ones of an input.
"""

from __future__ import annotations

from typing import Any, ClassVar

from mt_nn import functional
from mt_nn.core.module import Module
from mt_nn.core.settings import Sizes
from mt_nn.errors import SettingError, SettingTypeError
from mt_tensor import Tensor
from mt_tensor.extending import is_integer


class _Pad(Module):
    """What all paddings share.

    Args:
        padding: how much to add, one number for all sides or one for each: left and right, then
            top and bottom, then front and back. Negative numbers crop.
    """

    dims: ClassVar[int]
    mode: ClassVar[str] = "constant"
    value: float | None = None

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        sides = 2 * self.dims
        given: Any = padding if isinstance(padding, tuple | list) else (padding,) * sides
        whole = all(is_integer(number) for number in given)
        if not whole or len(given) != sides:
            message = f"padding must be one integer or {sides}; got {padding!r}."
            raise SettingError(message) if whole else SettingTypeError(message)
        self.padding: tuple[int, ...] = tuple(given)

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with more around its last dimensions."""
        return functional.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        """Show the settings."""
        return str(self.padding)


class _ConstantPad(_Pad):
    """What paddings by a constant share: that constant."""

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """A constant at both ends."""

    dims = 1


class ConstantPad2d(_ConstantPad):
    """A constant around images."""

    dims = 2


class ConstantPad3d(_ConstantPad):
    """A constant around volumes."""

    dims = 3


class ZeroPad1d(_Pad):
    """Zeros at both ends."""

    dims = 1


class ZeroPad2d(_Pad):
    """Zeros around images."""

    dims = 2


class ZeroPad3d(_Pad):
    """Zeros around volumes."""

    dims = 3


class ReflectionPad1d(_Pad):
    """Signals that go back and forth; the elements at the ends are not repeated."""

    dims, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Images mirrored at their edges."""

    dims, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Volumes mirrored at their faces."""

    dims, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Signals that stay as they begin and end."""

    dims, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Images whose edges go on."""

    dims, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Volumes whose faces go on."""

    dims, mode = 3, "replicate"


class CircularPad1d(_Pad):
    """Signals that begin again after their end."""

    dims, mode = 1, "circular"


class CircularPad2d(_Pad):
    """Images as tiles of a plane."""

    dims, mode = 2, "circular"


class CircularPad3d(_Pad):
    """Volumes as blocks of a space."""

    dims, mode = 3, "circular"
