"""Unfold images into columns (im2col), and fold columns into images (col2im)."""

from __future__ import annotations

from mt_nn.core.arguments import checked
from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch, windows
from mt_nn.errors import InputError
from mt_nn.layers.dimensions import Numbers, check_not_empty, check_windows
from mt_nn.layers.function import FunctionLayer
from mt_tensor import Tensor
from mt_tensor.extending import Embed, copy_if_aliased, wide
from mt_tensor.extending import Fold as Overlap


@checked
def unfold(
    input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Return all windows of images as columns.

    Args:
        input: shape (batch, channels, height, width), or without the batch.
        kernel_size: height and width of a window.
        dilation: distance between the elements of a window.
        padding: number of zeros added on each side.
        stride: distance between windows.

    Returns:
        Shape (batch, channels * kernel height * kernel width, windows).

    Raises:
        InputError: the shape or dtype of the input is invalid, or a window exceeds the image.
        SettingError: a setting is invalid.
    """
    images = as_batch("unfold", input, 2)
    kernel, dilations, margins, steps = _settings(kernel_size, dilation, padding, stride)
    check_windows("unfold", images.shape, kernel, margins, dilations)
    view = windows(wide(images), kernel, steps, margins, dilations).permute(0, 1, 4, 5, 2, 3)
    n, channels, _, _, rows, columns = view.shape
    out = view.reshape(n, channels * kernel[0] * kernel[1], rows * columns)
    out = copy_if_aliased(out.to(input.dtype), input)
    return out if images is input else out.squeeze(0)


@checked
def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """Put columns of `unfold` back at their positions in images; add them up where they overlap.

    Args:
        input: shape (batch, channels * kernel height * kernel width, windows), or without the
            batch.
        output_size: height and width of the images.
        kernel_size: height and width of a window.
        dilation: distance between the elements of a window.
        padding: number of elements that `unfold` added on each side, which are removed.
        stride: distance between windows.

    Returns:
        Shape (batch, channels, height, width).

    Raises:
        InputError: the number of elements or of windows is inconsistent with the settings.
        SettingError: a setting is invalid.
    """
    batch = as_batch("fold", input, 1)
    size = integers("output_size", output_size, 2, 1)
    kernel, dilations, margins, steps = _settings(kernel_size, dilation, padding, stride)
    check_windows("fold", (*batch.shape[:1], 1, *size), kernel, margins, dilations)
    spans = [spacing * (k - 1) + 1 for k, spacing in zip(kernel, dilations, strict=True)]
    padded = [length + 2 * margin for length, margin in zip(size, margins, strict=True)]
    rows, columns = ((padded[i] - spans[i]) // steps[i] + 1 for i in range(2))
    n, elements, count = batch.shape
    check_not_empty("fold", batch.shape)
    if elements % (kernel[0] * kernel[1]) or count != rows * columns:
        raise InputError(
            f"fold() to images of size {size} takes a multiple of {kernel[0] * kernel[1]} elements "
            f"and {rows * columns} windows; shape {input.shape} was given."
        )
    channels = elements // (kernel[0] * kernel[1])
    out = wide(batch).reshape(n, channels, *kernel, rows, columns).permute(0, 1, 4, 5, 2, 3)
    for i in (1, 0):  # columns first, since they are the last dimension of a window
        if dilations[i] > 1:
            starts, steps_of_dims = (0,) * out.ndim, (*(1,) * (out.ndim - 1), dilations[i])
            shape = (*out.shape[:-1], spans[i])
            out = Embed.apply(out, shape, starts, steps_of_dims, out._tensor.shape)
        out = Overlap.apply(out, i + 2, padded[i], steps[i])
    (top, left), (height, width) = margins, size
    images = out[:, :, top : top + height, left : left + width].to(input.dtype)
    return images if input.ndim == 3 else images.squeeze(0)


def _settings(*given: Sizes) -> tuple[Numbers, ...]:
    """Check kernel size, dilation, padding and stride."""
    names = (("kernel_size", 1), ("dilation", 1), ("padding", 0), ("stride", 1))
    return tuple(
        integers(name, value, 2, least) for (name, least), value in zip(names, given, strict=True)
    )


# --- Layers ---------------------------------------------------------------------------------------


class Unfold(FunctionLayer, function=unfold):
    """Return all windows of images as columns; see `mt_nn.functional.unfold`."""

    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1


class Fold(FunctionLayer, function=fold):
    """Add up windows at their positions in images; see `mt_nn.functional.fold`."""

    output_size: Sizes
    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1
