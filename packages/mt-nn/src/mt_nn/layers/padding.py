"""Padding: tensors surrounded by a constant, or by what they hold.

Windows at the edge of an image see less of it than others; padding says what else they see. The
numbers in the names of layers say how many dimensions are padded, the last ones of an input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import mt_tensor as mt
from mt_nn.core.arguments import checked
from mt_nn.core.module import Module
from mt_nn.core.settings import Sizes
from mt_nn.errors import InputError, SettingError, SettingTypeError
from mt_nn.utils.settings import choice
from mt_tensor import Tensor, fused
from mt_tensor.extending import apart, as_integers, is_integer


@checked
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Surround a tensor with a constant, or with its own elements.

    Args:
        input: any tensor for a constant. Otherwise it has one or two dimensions more than are
            padded, of which there may be three.
        pad: how many elements to add before and after, in torch's order: the last dimension
            first, `(left, right, top, bottom, ...)`. Negative numbers crop.
        mode: "constant"; "reflect", mirrored at the outermost elements, which are not repeated;
            "replicate", the outermost elements again and again; "circular", as if the other end
            were next.
        value: the constant; 0 for None.

    Raises:
        InputError: there is too little to reflect or to go round, or the tensor has other
            dimensions.
        SettingError: there is no such mode, or a value for one that takes none.
        ShapeError: `pad` has an odd length, names too many dimensions or crops too much.
    """
    if choice("mode", mode, ("constant", *_MODES)) == "constant":
        return mt.pad(input, pad, value=value)
    if value:
        raise SettingError(f"only padding by a constant takes a value; got {value} for {mode!r}.")
    amounts = as_integers((pad,))
    dims = len(amounts) // 2
    if len(amounts) % 2 or dims not in (1, 2, 3) or input.ndim - dims not in (1, 2):
        raise InputError(
            f"padding of mode {mode!r} takes pairs of numbers for one to three dimensions of a "
            f"tensor with one or two dimensions more; got {amounts} for shape {input.shape}."
        )
    if mode != "circular" and input.shape[-dims - 1] == 0:
        raise InputError(f"there is nothing to pad from in a tensor of shape {input.shape}.")
    original = input
    if mode == "circular" and min(amounts) < 0:  # what is cropped is not in the circle
        input = mt.pad(input, [min(amount, 0) for amount in amounts])
        amounts = tuple(max(amount, 0) for amount in amounts)
    for dim in range(dims):
        before, after = amounts[2 * dim : 2 * dim + 2]
        _check(input, input.ndim - 1 - dim, before, after, mode)
    return apart(_padded(input, amounts, mode), original)


def _check(input: Tensor, dim: int, before: int, after: int, mode: str) -> None:
    length = input.shape[dim]
    limit, _ = _MODES[mode]
    if (before or after) and (max(before, after) > limit(length) or length + before + after < 1):
        raise InputError(
            f"a dimension of {length} element(s) cannot be padded by {before} and {after} in mode "
            f"{mode!r}; shape {input.shape} was given."
        )


@fused("pad")
def _padded(input: Tensor, amounts: tuple[int, ...], mode: str) -> Tensor:
    """Surround a tensor with its own elements; the arguments are those of `pad`, checked."""
    for dim in range(len(amounts) // 2):
        before, after = amounts[2 * dim : 2 * dim + 2]
        if before or after:
            input = _extended(input, input.ndim - 1 - dim, before, after, mode)
    return input


def _extended(input: Tensor, dim: int, before: int, after: int, mode: str) -> Tensor:
    """Return a tensor with elements of its own added before and after a dimension."""
    length = input.shape[dim]
    _, around = _MODES[mode]
    front, end = around(input, dim, max(before, 0), max(after, 0))
    extended = mt.cat([front, input, end], dim)
    if min(before, after) < 0:
        extended = extended.narrow(dim, max(-before, 0), length + before + after)
    return extended


def _mirrored(input: Tensor, dim: int, before: int, after: int) -> tuple[Tensor, Tensor]:
    last = input.shape[dim] - 1
    front, end = input.narrow(dim, min(1, last), before), input.narrow(dim, last - after, after)
    return front.flip(dim), end.flip(dim)


def _outermost(input: Tensor, dim: int, before: int, after: int) -> tuple[Tensor, Tensor]:
    shape, rest = input.shape[:dim], input.shape[dim + 1 :]
    first, last = input.narrow(dim, 0, 1), input.narrow(dim, -1, 1)
    return first.expand(*shape, before, *rest), last.expand(*shape, after, *rest)


def _around(input: Tensor, dim: int, before: int, after: int) -> tuple[Tensor, Tensor]:
    return input.narrow(dim, input.shape[dim] - before, before), input.narrow(dim, 0, after)


_Ends = Callable[[Tensor, int, int, int], tuple[Tensor, Tensor]]

_MODES: dict[str, tuple[Callable[[int], float], _Ends]] = {
    "reflect": (lambda length: length - 1, _mirrored),
    "replicate": (lambda length: float("inf") if length else 0, _outermost),
    "circular": (lambda length: length, _around),
}
"""For each mode the most that can be added to a size, and what is added before and after it."""


# --- Layers ---------------------------------------------------------------------------------------


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
        return pad(input, self.padding, self.mode, self.value)

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
