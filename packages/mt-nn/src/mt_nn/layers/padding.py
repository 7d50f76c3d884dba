"""Padding with a constant, or with the elements of a tensor.

Layers pad the last one, two or three dimensions of an input, depending on the number in their name.
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
from mt_tensor.extending import as_integers, copy_if_aliased, is_integer


@checked
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Pad a tensor with a constant, or with its own elements.

    Args:
        input: a tensor of any shape. Modes other than "constant" pad one to three dimensions of a
            tensor with one or two dimensions more.
        pad: number of elements to add before and after each dimension, the last one first, as in
            torch: `(left, right, top, bottom, ...)`. Negative numbers crop.
        mode: "constant"; "reflect", mirror without repeating the edge; "replicate", repeat the
            edge; or "circular", continue with the opposite end.
        value: the constant; 0 for None.

    Raises:
        InputError: the tensor has too few elements for the mode, or another number of dimensions.
        SettingError: the mode is invalid, or `value` is given for a mode other than "constant".
        ShapeError: `pad` has an odd length, pads too many dimensions or crops too much.
    """
    if choice("mode", mode, ("constant", *_MODES)) == "constant":
        return mt.pad(input, pad, value=value)
    if value:
        raise SettingError(
            f"pad() takes a value only with mode='constant'; got {value} and mode={mode!r}."
        )
    amounts = as_integers((pad,))
    dims = len(amounts) // 2
    if len(amounts) % 2 or dims not in (1, 2, 3) or input.ndim - dims not in (1, 2):
        raise InputError(
            f"pad() with mode={mode!r} takes pairs of integers for one to three dimensions of a "
            f"tensor with one or two dimensions more; got {amounts} for shape {input.shape}."
        )
    if mode != "circular" and input.shape[-dims - 1] == 0:
        raise InputError(
            f"pad() with mode={mode!r} repeats elements; shape {input.shape} has none."
        )
    original = input
    # Crop first, since cropped elements are not repeated.
    if mode == "circular" and min(amounts) < 0:
        input = mt.pad(input, [min(amount, 0) for amount in amounts])
        amounts = tuple(max(amount, 0) for amount in amounts)
    for dim in range(dims):
        before, after = amounts[2 * dim : 2 * dim + 2]
        _check(input, input.ndim - 1 - dim, before, after, mode)
    return copy_if_aliased(_padded(input, amounts, mode), original)


def _check(input: Tensor, dim: int, before: int, after: int, mode: str) -> None:
    length = input.shape[dim]
    limit, _ = _MODES[mode]
    if (before or after) and (max(before, after) > limit(length) or length + before + after < 1):
        raise InputError(
            f"pad(): a dimension of {length} element(s) cannot be padded by {before} and {after} "
            f"in mode {mode!r}; shape {input.shape} was given."
        )


@fused("pad")
def _padded(input: Tensor, amounts: tuple[int, ...], mode: str) -> Tensor:
    """Compute `pad` with a mode other than "constant", for checked arguments."""
    for dim in range(len(amounts) // 2):
        before, after = amounts[2 * dim : 2 * dim + 2]
        if before or after:
            input = _extended(input, input.ndim - 1 - dim, before, after, mode)
    return input


def _extended(input: Tensor, dim: int, before: int, after: int, mode: str) -> Tensor:
    """Pad one dimension."""
    length = input.shape[dim]
    _, ends = _MODES[mode]
    front, end = ends(input, dim, max(before, 0), max(after, 0))
    extended = mt.cat([front, input, end], dim)
    if min(before, after) < 0:
        extended = extended.narrow(dim, max(-before, 0), length + before + after)
    return extended


def _reflected(input: Tensor, dim: int, before: int, after: int) -> tuple[Tensor, Tensor]:
    last = input.shape[dim] - 1
    front, end = input.narrow(dim, min(1, last), before), input.narrow(dim, last - after, after)
    return front.flip(dim), end.flip(dim)


def _replicated(input: Tensor, dim: int, before: int, after: int) -> tuple[Tensor, Tensor]:
    shape, rest = input.shape[:dim], input.shape[dim + 1 :]
    first, last = input.narrow(dim, 0, 1), input.narrow(dim, -1, 1)
    return first.expand(*shape, before, *rest), last.expand(*shape, after, *rest)


def _wrapped(input: Tensor, dim: int, before: int, after: int) -> tuple[Tensor, Tensor]:
    return input.narrow(dim, input.shape[dim] - before, before), input.narrow(dim, 0, after)


_Ends = Callable[[Tensor, int, int, int], tuple[Tensor, Tensor]]

_MODES: dict[str, tuple[Callable[[int], float], _Ends]] = {
    "reflect": (lambda length: length - 1, _reflected),
    "replicate": (lambda length: float("inf") if length else 0, _replicated),
    "circular": (lambda length: length, _wrapped),
}
"""For each mode: the largest padding of a size, and a function that returns both ends."""


# --- Layers ---------------------------------------------------------------------------------------


class _Pad(Module):
    """Base class of padding layers."""

    dims: ClassVar[int]
    mode: ClassVar[str]
    value: float | None = None

    def __init_subclass__(cls, dims: int | None = None, mode: str = "constant") -> None:
        """Store the number of dimensions and the mode of a layer."""
        if dims is not None:
            cls.dims, cls.mode = dims, mode

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        sides = 2 * self.dims
        given: Any = padding if isinstance(padding, tuple | list) else (padding,) * sides
        are_integers = all(is_integer(number) for number in given)
        if not are_integers or len(given) != sides:
            error = SettingError if are_integers else SettingTypeError
            raise error(
                f"{type(self).__name__}: padding must be one integer or {sides} integers; got "
                f"{padding!r}."
            )
        self.padding: tuple[int, ...] = tuple(given)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        """Return the settings."""
        return str(self.padding)


class _ConstantPad(_Pad):
    """Base class of layers that pad with a given constant."""

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad, dims=1):
    """Pad signals with a constant.

    Args:
        padding: number of elements to add at both ends, or (left, right). Negative numbers crop.
        value: the value of the new elements.
    """


class ConstantPad2d(_ConstantPad, dims=2):
    """Pad images with a constant.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom). Negative
            numbers crop.
        value: the value of the new elements.
    """


class ConstantPad3d(_ConstantPad, dims=3):
    """Pad volumes with a constant.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom, front, back).
            Negative numbers crop.
        value: the value of the new elements.
    """


class ZeroPad1d(_Pad, dims=1):
    """Pad signals with zeros.

    Args:
        padding: number of elements to add at both ends, or (left, right). Negative numbers crop.
    """


class ZeroPad2d(_Pad, dims=2):
    """Pad images with zeros.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom). Negative
            numbers crop.
    """


class ZeroPad3d(_Pad, dims=3):
    """Pad volumes with zeros.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom, front, back).
            Negative numbers crop.
    """


class ReflectionPad1d(_Pad, dims=1, mode="reflect"):
    """Pad signals by reflection at their ends, without repeating the end elements.

    Args:
        padding: number of elements to add at both ends, or (left, right). Negative numbers crop.
    """


class ReflectionPad2d(_Pad, dims=2, mode="reflect"):
    """Pad images by reflection at their edges, without repeating the edge pixels.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom). Negative
            numbers crop.
    """


class ReflectionPad3d(_Pad, dims=3, mode="reflect"):
    """Pad volumes by reflection at their faces, without repeating the outermost elements.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom, front, back).
            Negative numbers crop.
    """


class ReplicationPad1d(_Pad, dims=1, mode="replicate"):
    """Pad signals by repeating the elements at their ends.

    Args:
        padding: number of elements to add at both ends, or (left, right). Negative numbers crop.
    """


class ReplicationPad2d(_Pad, dims=2, mode="replicate"):
    """Pad images by repeating the pixels at their edges.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom). Negative
            numbers crop.
    """


class ReplicationPad3d(_Pad, dims=3, mode="replicate"):
    """Pad volumes by repeating the elements at their faces.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom, front, back).
            Negative numbers crop.
    """


class CircularPad1d(_Pad, dims=1, mode="circular"):
    """Pad signals periodically.

    Args:
        padding: number of elements to add at both ends, or (left, right). Negative numbers crop.
    """


class CircularPad2d(_Pad, dims=2, mode="circular"):
    """Pad images periodically.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom). Negative
            numbers crop.
    """


class CircularPad3d(_Pad, dims=3, mode="circular"):
    """Pad volumes periodically.

    Args:
        padding: number of elements to add on each side, or (left, right, top, bottom, front, back).
            Negative numbers crop.
    """
