"""Windows of images as columns of a matrix, and back."""

from __future__ import annotations

from mt_nn.core.arguments import checked
from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch, windows
from mt_nn.errors import InputError
from mt_nn.layers.dimensions import check_not_empty, check_windows
from mt_nn.layers.function import FunctionLayer
from mt_tensor import Tensor
from mt_tensor.extending import Embed, apart
from mt_tensor.extending import Fold as Overlap


@checked
def unfold(
    input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Return all windows of images, each as a column.

    Args:
        input: shape (batch, channels, height, width), or without the batch.
        kernel_size: height and width of the window.
        dilation: distance between the elements of a window.
        padding: zeros added on each side.
        stride: distance between windows.

    Returns:
        Shape (batch, channels * kernel height * kernel width, windows).

    Raises:
        InputError: the input holds no such images, or a window is larger than one.
        SettingError: an invalid setting.
    """
    images = as_batch("unfold", input, 2)
    kernel, spreads, margins, steps = _settings(kernel_size, dilation, padding, stride)
    seen = windows(images, kernel, steps, margins, spreads).permute(0, 1, 4, 5, 2, 3)
    n, channels, _, _, high, wide = seen.shape
    columns = apart(seen.reshape(n, channels * kernel[0] * kernel[1], high * wide), input)
    return columns if images is input else columns.squeeze(0)


@checked
def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """Lay windows back to where `unfold` took them from, and add up where they overlap.

    Args:
        input: shape (batch, channels * kernel height * kernel width, windows), or without the
            batch.
        output_size: height and width of the images.
        kernel_size: height and width of the window.
        dilation: distance between the elements of a window.
        padding: what `unfold` added on each side, and is cut off here.
        stride: distance between windows.

    Returns:
        Shape (batch, channels, height, width).

    Raises:
        InputError: there are more or fewer elements or windows than the settings say.
        SettingError: an invalid setting.
    """
    columns = as_batch("fold", input, 1)
    size = integers("output_size", output_size, 2, 1)
    kernel, spreads, margins, steps = _settings(kernel_size, dilation, padding, stride)
    check_windows((*columns.shape[:1], 1, *size), kernel, margins, spreads)
    spans = [spread * (k - 1) + 1 for k, spread in zip(kernel, spreads, strict=True)]
    rooms = [length + 2 * margin for length, margin in zip(size, margins, strict=True)]
    high, wide = (
        (room - span) // step + 1 for room, span, step in zip(rooms, spans, steps, strict=True)
    )
    n, elements, count = columns.shape
    check_not_empty(columns.shape)
    if elements % (kernel[0] * kernel[1]) or count != high * wide:
        raise InputError(
            f"fold() to images of size {size} takes a multiple of {kernel[0] * kernel[1]} elements "
            f"and {high * wide} windows of each; shape {input.shape} was given."
        )
    channels = elements // (kernel[0] * kernel[1])
    seen = columns.reshape(n, channels, *kernel, high, wide).permute(0, 1, 4, 5, 2, 3)
    for dim in (3, 2):  # columns first, for they are the last dimension of a window
        span, step, spread = spans[dim - 2], steps[dim - 2], spreads[dim - 2]
        if spread > 1:
            starts, ones = (0,) * seen.ndim, (1,) * (seen.ndim - 1)
            spaced = (*seen.shape[:-1], span)
            seen = Embed.apply(seen, spaced, starts, (*ones, spread), seen._tensor.shape)
        seen = Overlap.apply(seen, dim, rooms[dim - 2], step)
    (top, left), (height, width) = margins, size
    images = seen[:, :, top : top + height, left : left + width]
    return images if input.ndim == 3 else images.squeeze(0)


def _settings(*given: Sizes) -> tuple[tuple[int, ...], ...]:
    """Check kernel size, dilation, padding and stride."""
    names = (("kernel_size", 1), ("dilation", 1), ("padding", 0), ("stride", 1))
    return tuple(
        integers(name, value, 2, least) for (name, least), value in zip(names, given, strict=True)
    )


# --- Layers ---------------------------------------------------------------------------------------


class Unfold(FunctionLayer):
    """All windows of images, each as a column; see `mt_nn.functional.unfold`."""

    function = staticmethod(unfold)
    shown = ("kernel_size", "dilation", "padding", "stride")
    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1


class Fold(FunctionLayer):
    """Windows laid back to where `Unfold` took them from; see `mt_nn.functional.fold`."""

    function = staticmethod(fold)
    shown = ("output_size", "kernel_size", "dilation", "padding", "stride")
    output_size: Sizes
    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1
