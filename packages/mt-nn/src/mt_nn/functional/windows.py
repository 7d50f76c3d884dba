"""Windows of images: what convolution and pooling look through."""

from __future__ import annotations

from mt_nn.errors import InputError
from mt_tensor import Tensor, pad
from mt_tensor.strides import Shape


def check_images(name: str, input: Tensor) -> None:
    """Raise InputError unless a tensor holds floating-point images."""
    if input.ndim != 4 or not input.is_floating_point():
        raise InputError(
            f"{name}() takes floating-point images of shape (batch, channels, height, width); "
            f"shape {input.shape} and {input.dtype.name} were given."
        )


def check_windows(
    shape: Shape,
    kernel_size: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int] = (1, 1),
) -> None:
    """Raise InputError if a window is larger than padded images of this shape."""
    extents = zip(shape[2:], kernel_size, padding, dilation, strict=True)
    for extent, size, margin, spread in extents:
        span, room = spread * (size - 1) + 1, extent + 2 * margin
        if span > room:
            raise InputError(
                f"a window of {span} element(s) is larger than the padded image, which has "
                f"{room}: use a smaller kernel or dilation, or more padding."
            )


def windows(
    input: Tensor,
    kernel_size: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int] = (1, 1),
    value: float = 0.0,
) -> Tensor:
    """Return every window of an image, as a view of the padded image.

    Args:
        input: shape (batch, channels, height, width).
        kernel_size: height and width of the window.
        stride: how far apart windows are.
        padding: how many elements to add on each side.
        dilation: how far apart the elements of a window are.
        value: what to pad with.

    Returns:
        Shape (batch, channels, out height, out width, kernel height, kernel width).

    Raises:
        InputError: the window is larger than the padded image.
    """
    check_windows(input.shape, kernel_size, padding, dilation)
    ph, pw = padding
    seen = pad(input, (pw, pw, ph, ph), value=value) if ph or pw else input
    for dim, size, step, spread in zip((2, 3), kernel_size, stride, dilation, strict=True):
        seen = seen.unfold(dim, spread * (size - 1) + 1, step)
        if spread > 1:
            seen = seen[..., ::spread]
    return seen
