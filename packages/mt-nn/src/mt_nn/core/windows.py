"""Windows of signals, images and volumes: what convolution and pooling, below, look through.

Batches have shape (batch, channels, *extents), with one extent for each of one to three dimensions.
A window costs no memory: stage 2's strides make all windows one view of the input.
"""

from __future__ import annotations

from mt_nn.core.arguments import checked
from mt_nn.core.errors import InputError
from mt_tensor import Tensor, pad
from mt_tensor.extending import Shape

_SHAPES = {
    1: "signals of shape (batch, channels, length)",
    2: "images of shape (batch, channels, height, width)",
    3: "volumes of shape (batch, channels, depth, height, width)",
}


def as_batch(name: str, input: Tensor, dims: int) -> Tensor:
    """Return floating-point inputs of `dims` dimensions; one without a batch becomes one of one.

    Raises:
        InputError: they have other dimensions, or are not floating-point.
    """
    layout = input._tensor.layout
    without_batch = len(layout.shape) == dims + 1
    if not layout.dtype.is_floating_point or not (without_batch or len(layout.shape) == dims + 2):
        raise InputError(
            f"{name}() takes floating-point {_SHAPES[dims]}, or one without a batch; shape "
            f"{input.shape} and {input.dtype.name} were given."
        )
    return input.unsqueeze(0) if without_batch else input


def check_not_empty(shape: Shape) -> None:
    """Raise InputError if there is nothing in a sample; of samples there may be none."""
    if 0 in shape[1:]:
        raise InputError(f"there is nothing to look at in an input of shape {shape}.")


def check_windows(
    shape: Shape,
    kernel_size: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> None:
    """Raise InputError if a window is larger than padded inputs of this shape."""
    check_not_empty(shape)
    extents = zip(shape[2:], kernel_size, padding, dilation, strict=True)
    for extent, size, margin, spread in extents:
        span, padded = spread * (size - 1) + 1, extent + 2 * margin
        if span > padded:
            raise InputError(
                f"a window of {span} element(s) is larger than the padded input, which has "
                f"{padded}: use a smaller kernel or dilation, or more padding."
            )


def pairs(befores: tuple[int, ...], afters: tuple[int, ...]) -> list[int]:
    """Return what to add before and after each dimension, as `mt_tensor.pad` takes it."""
    both = zip(reversed(befores), reversed(afters), strict=True)
    return [number for pair in both for number in pair]


@checked
def windows(
    input: Tensor,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...] | None = None,
    value: float = 0.0,
) -> Tensor:
    """Return every window of an image, as a view of the padded image.

    Args:
        input: shape (batch, channels, height, width), or more or fewer extents.
        kernel_size: height and width of the window.
        stride: how far apart windows are.
        padding: how many elements to add on each side.
        dilation: how far apart the elements of a window are; 1 for None.
        value: what to pad with.

    Returns:
        Shape (batch, channels, out height, out width, kernel height, kernel width).

    Raises:
        InputError: the window is larger than the padded image.
    """
    spreads = (1,) * len(kernel_size) if dilation is None else dilation
    check_windows(input.shape, kernel_size, padding, spreads)
    seen = pad(input, pairs(padding, padding), value=value) if any(padding) else input
    settings = zip(kernel_size, stride, spreads, strict=True)
    for dim, (size, step, spread) in enumerate(settings, 2):
        seen = seen.unfold(dim, spread * (size - 1) + 1, step)
        if spread > 1:
            seen = seen[..., ::spread]
    return seen
