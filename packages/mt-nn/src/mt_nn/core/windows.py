"""Windows that slide over signals and images; convolution and pooling compute with them.

Batches have shape (batch, channels, *sizes), with one size for each of one to three dimensions. The
windows take no memory: by stage 2's strides all of them are one view of the input.
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
    """Return a floating-point batch of samples with `dims` sizes, for the function `name`.

    A single sample, of shape (channels, *sizes), becomes a batch of one.
    """
    layout = input._tensor.layout
    is_single = len(layout.shape) == dims + 1
    if not layout.dtype.is_floating_point or not (is_single or len(layout.shape) == dims + 2):
        raise InputError(
            f"{name}() takes floating-point {_SHAPES[dims]}, or one without a batch; shape "
            f"{input.shape} and {input.dtype.name} were given."
        )
    return input.unsqueeze(0) if is_single else input


def padded(input: Tensor, padding: tuple[int, ...], value: float) -> Tensor:
    """Return images surrounded by elements of one value.

    Stage 2's `Unselect` is the opposite of a slice: it puts a tensor into a larger one.
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
        input: shape (batch, channels, height, width), or with more or fewer sizes.
        kernel_size: height and width of a window.
        stride: distance between windows.
        padding: how many elements to add on each side.
        dilation: distance between the elements of a window; 1 if None.
        value: the element to pad with.

    Returns:
        Shape (batch, channels, out height, out width, kernel height, kernel width).

    Raises:
        InputError: a window is larger than the padded image.
    """
    steps = (1,) * len(kernel_size) if dilation is None else dilation
    check("windows", input.shape, kernel_size, padding, steps)
    seen = padded(input, padding, value) if any(padding) else input
    for dim, (size, distance, step) in enumerate(zip(kernel_size, stride, steps, strict=True), 2):
        seen = seen.unfold(dim, step * (size - 1) + 1, distance)
        if step > 1:
            seen = seen[..., ::step]
    return seen
