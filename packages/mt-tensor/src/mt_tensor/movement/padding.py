"""Strided slices, and padding, which is their adjoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.checks import check_choice, validate_call
from mt_tensor.core.arguments import as_integers
from mt_tensor.core.dtypes import as_number
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import LinearFunction, ViewFunction
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import ShapeError


class Slice(ViewFunction):
    """Slice each dimension with a start, a step and a length."""

    @staticmethod
    def layout(layout: Layout, starts: Shape, steps: Shape, lengths: Shape) -> Layout:
        return layout.sliced(starts, steps, lengths)

    @staticmethod
    def backward(grad: Tensor, source: Any, starts: Shape, steps: Shape, lengths: Shape) -> Tensor:
        return Slice.gradient_of_argument(Embed, grad, source.shape, starts, steps, lengths)


class Embed(LinearFunction):
    """Store elements where `Slice` reads them, in a tensor filled with `value`; its adjoint."""

    @staticmethod
    def forward(
        x: Tensor, shape: Shape, starts: Shape, steps: Shape, lengths: Shape, value: float = 0.0
    ) -> TensorData:
        data = x.backend.full(shape, x.dtype, value)
        x.backend.copy(x._tensor, data.slice(starts, steps, lengths))
        return data

    @staticmethod
    def backward(
        grad: Tensor, _: Any, __: Shape, starts: Shape, steps: Shape, lengths: Shape, *___: float
    ) -> Tensor:
        return Slice.apply(grad, starts, steps, lengths)


@validate_call
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Pad a tensor with a constant.

    Args:
        input: any tensor.
        pad: the numbers of elements to add before and after each dimension, starting with the
            last, `(left, right, top, bottom, ...)`. Negative numbers crop.
        mode: "constant", the only supported mode.
        value: the constant; 0 for None.

    Raises:
        ShapeError: `pad` has an odd length or too many numbers, or crops too much.
        DomainError: `mode` has another value.
        DTypeError: `value` is out of the range of the dtype.
        TypeError: `value` is not a number, or a number of elements is not an integer.
    """
    check_choice("pad", "mode", mode, ["constant"])
    padding = as_integers((pad,))
    if len(padding) % 2 or len(padding) > 2 * input.ndim:
        raise ShapeError(
            f"pad() takes pairs of integers, at most one for each of the {input.ndim} "
            f"dimension(s); {padding} was given."
        )
    before, after = [0] * input.ndim, [0] * input.ndim
    for pair in range(len(padding) // 2):
        before[-1 - pair], after[-1 - pair] = padding[2 * pair], padding[2 * pair + 1]
    shape = tuple(e + b + a for e, b, a in zip(input.shape, before, after, strict=True))
    crop = tuple(max(-b, 0) for b in before)
    kept = tuple(e - c - max(-a, 0) for e, c, a in zip(input.shape, crop, after, strict=True))
    if any(size < 0 for size in kept):
        raise ShapeError(f"pad() cannot crop shape {input.shape} by {padding}: a size is negative.")
    ones = (1,) * input.ndim
    inside = Slice.apply(input, crop, ones, kept) if kept != input.shape else input
    if shape == kept:
        return inside.clone()
    number = input.dtype.checked(as_number("pad(): value", 0 if value is None else value))
    starts = tuple(max(b, 0) for b in before)
    return Embed.apply(inside, shape, starts, ones, inside._tensor.shape, number)
