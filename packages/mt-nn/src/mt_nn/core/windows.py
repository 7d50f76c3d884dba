"""Sliding windows, used by convolution and pooling.

Batches have shape (batch, channels, *sizes), with one to three sizes. All windows together are a
view of the input, made with strides, so they need no memory.
"""

from __future__ import annotations

from mt_nn.core.arguments import checked
from mt_nn.core.errors import InputError
from mt_nn.core.extensions import check
from mt_tensor import Tensor
from mt_tensor.core.subscripts import Unselect

_SHAPES = {
    1: "signals of shape (batch, channels, length)",
    2: "images of shape (batch, channels, height, width)",
    3: "volumes of shape (batch, channels, depth, height, width)",
}


def as_batch(name: str, input: Tensor, dims: int) -> Tensor:
    """Check the shape and dtype of an input with `dims` sizes, and return it as a batch.

    A single sample, of shape (channels, *sizes), becomes a batch of one.
    """
    layout = input._tensor.layout
    is_single = len(layout.shape) == dims + 1
    if not layout.dtype.is_floating_point or not (is_single or len(layout.shape) == dims + 2):
        raise InputError(
            f"{name}() takes floating-point {_SHAPES[dims]}, or without the batch; shape "
            f"{input.shape} and {input.dtype.name} were given."
        )
    return input.unsqueeze(0) if is_single else input


def padded(input: Tensor, padding: tuple[int, ...], value: float) -> Tensor:
    """Pad images with a constant value.

    Stage 2's `Unselect` is the adjoint of slicing: it stores a tensor inside a larger one.
    """
    margins = (0, 0, *padding)
    sizes = [size + 2 * margin for size, margin in zip(input.shape, margins, strict=True)]
    inside = [slice(m, m + n) for m, n in zip(margins, input.shape, strict=True)]
    return Unselect.apply(input, tuple(sizes), inside, input.dtype.checked(value))


@checked
def windows(
    input: Tensor,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...] | None = None,
    value: float = 0.0,
) -> Tensor:
    """Return all windows of an image, as a view of the padded image.

    Args:
        input: shape (batch, channels, height, width), or with one or three sizes.
        kernel_size: height and width of a window.
        stride: distance between windows.
        padding: number of elements added on each side.
        dilation: distance between the elements of a window; 1 if None.
        value: the padding value.

    Returns:
        Shape (batch, channels, out height, out width, kernel height, kernel width).

    Raises:
        InputError: a window is larger than the padded image.
    """
    steps = (1,) * len(kernel_size) if dilation is None else dilation
    check("windows", "windows", input.shape, kernel_size, padding, steps)
    view = padded(input, padding, value) if any(padding) else input
    for dim, (size, distance, step) in enumerate(zip(kernel_size, stride, steps, strict=True), 2):
        view = view.unfold(dim, step * (size - 1) + 1, distance)
        if step > 1:
            view = view[..., ::step]
    return view
