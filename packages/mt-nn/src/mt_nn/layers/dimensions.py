"""Functions over one, two and three dimensions from one definition, and checks of shapes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from mt_nn.core.arguments import checked
from mt_nn.core.errors import InputError, SettingError
from mt_nn.core.extensions import extends
from mt_tensor.extending import Shape, check_addressable

Numbers = tuple[int, ...]
"""One number per dimension, such as the size or dilation of a window."""


def check_not_empty(name: str, shape: Shape) -> None:
    """Raise InputError if samples have no elements; an empty batch is valid."""
    if 0 in shape[1:]:
        raise InputError(
            f"{name}(): each sample must have at least one element; got an input of shape {shape}."
        )


@extends("windows")
def check_windows(
    name: str,
    shape: Shape,
    kernel_size: Numbers,
    padding: Numbers,
    dilation: Numbers,
) -> None:
    """Raise an error if padded inputs are smaller than a window, or too large for any memory."""
    check_not_empty(name, shape)
    for size, kernel, margin, step in zip(shape[2:], kernel_size, padding, dilation, strict=True):
        span, padded = step * (kernel - 1) + 1, size + 2 * margin
        if span > padded:
            raise InputError(
                f"{name}(): a window of {span} element(s) is larger than the padded input, which "
                f"has {padded}: use a smaller kernel or dilation, or more padding."
            )
    lengths = zip(shape[2:], padding, strict=True)
    check_addressable((*shape[:2], *(size + 2 * margin for size, margin in lengths)))


@extends("pooling")
@functools.lru_cache(1024)
def check_pooling(
    name: str,
    shape: Shape,
    kernel: Numbers,
    padding: Numbers,
    dilation: Numbers,
) -> None:
    """Raise an error unless windows fit into inputs of a shape; valid combinations are cached."""
    if any(2 * margin > size for margin, size in zip(padding, kernel, strict=True)):
        raise SettingError(
            f"{name}(): padding {padding} must be at most half the kernel size {kernel}, or "
            "windows would cover only padding."
        )
    check_windows(name, shape, kernel, padding, dilation)


@extends("convolution")
@functools.lru_cache(1024)
def check_convolution(
    name: str,
    inputs: Shape,
    kernels: Shape,
    biases: Shape | None,
    padding: Numbers,
    dilation: Numbers,
    groups: int,
) -> None:
    """Raise InputError unless the shapes are consistent; valid combinations are cached."""
    if len(kernels) != len(inputs) or 0 in (kernels[0], *kernels[2:]):
        raise InputError(
            f"{name}() takes a weight of shape (out channels, in channels / groups, *kernel size), "
            f"of as many dimensions as the batch, with kernels of at least one element; shape "
            f"{kernels} was given for inputs of shape {inputs}."
        )
    outputs, channels = kernels[:2]
    if channels * groups != inputs[1]:
        grouped = f" and groups={groups}" if groups > 1 else ""
        raise InputError(
            f"{name}() with a weight of shape {kernels}{grouped} expects "
            f"{channels * groups} channels; {inputs[1]} were given, in an input of shape {inputs}."
        )
    if outputs % groups:
        raise InputError(
            f"{name}() with groups={groups} takes a weight with a multiple of {groups} output "
            f"channels; shape {kernels} was given."
        )
    if biases is not None and biases != (outputs,):
        raise InputError(
            f"{name}() with a weight of shape {kernels} takes a bias of shape {(outputs,)}; shape "
            f"{biases} was given."
        )
    check_windows(name, inputs, kernels[2:], padding, dilation)


def pairs(before: Numbers, after: Numbers) -> list[int]:
    """Combine the padding before and after each dimension into an argument for `mt_tensor.pad`."""
    both = zip(reversed(before), reversed(after), strict=True)
    return [number for pair in both for number in pair]


_WORDS = {
    "signals, images or volumes": ("signals", "images", "volumes"),
    "signal, image or volume": ("signal", "image", "volume"),
    "*sizes": ("length", "height, width", "depth, height, width"),
}
"""Words in docstrings, and those for one, two and three dimensions."""

P = ParamSpec("P")
R = TypeVar("R")


def over_dimensions(
    function: Callable[Concatenate[int, P], R],
) -> tuple[Callable[P, R], Callable[P, R], Callable[P, R]]:
    """Return `checked` versions of a function for one, two and three dimensions.

    Their names end in "1d", "2d" and "3d". In their docstrings, `_WORDS` are replaced, and the line
    of the first parameter is removed.

    Args:
        function: its first parameter, `dims`, is the number of dimensions.
    """

    def over(dims: int) -> Callable[P, R]:
        one: Any = functools.partial(function, dims)
        one.__name__ = one.__qualname__ = f"{function.__name__}{dims}d"
        doc = re.sub(r"\n *dims: .*", "", function.__doc__ or "")
        for words, each in _WORDS.items():
            doc = doc.replace(words, each[dims - 1])
        one.__module__, one.__doc__ = function.__module__, doc
        return checked(one)

    return over(1), over(2), over(3)
