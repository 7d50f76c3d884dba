"""The functions of MiniTorch's fourth module, with the names and the rules of the course.

They are a few lines each around the functions of torch's names, for whoever has written them once
and looks for them here. Where the rules differ, the difference is said; in new code, take
`mt_nn.functional`.
"""

from __future__ import annotations

from mt_nn import functional
from mt_nn.core.dropout import check_probability
from mt_nn.core.settings import integers
from mt_nn.core.windows import as_batch
from mt_nn.errors import InputError
from mt_tensor import Tensor, rand


def conv1d(input: Tensor, weight: Tensor) -> Tensor:
    """Slide kernels over signals; the output is as long as the input.

    Windows that stick out beyond the end see zeros there; torch has no such windows.

    Args:
        input: shape (batch, in channels, length).
        weight: shape (out channels, in channels, kernel length).

    Returns:
        Shape (batch, out channels, length).

    Raises:
        InputError: the shapes do not fit each other.
    """
    return functional.conv1d(_extended(input, weight, 1), weight)


def conv2d(input: Tensor, weight: Tensor) -> Tensor:
    """Slide kernels over images; the output is as large as the input, as in `conv1d`.

    Args:
        input: shape (batch, in channels, height, width).
        weight: shape (out channels, in channels, kernel height, kernel width).

    Returns:
        Shape (batch, out channels, height, width).

    Raises:
        InputError: the shapes do not fit each other.
    """
    return functional.conv2d(_extended(input, weight, 2), weight)


def _extended(input: Tensor, weight: Tensor, dims: int) -> Tensor:
    """Return an input with zeros at its ends for the windows that stick out."""
    if input.ndim != dims + 2 or weight.ndim != dims + 2 or 0 in weight.shape[2:]:
        raise InputError(
            f"conv{dims}d() takes a batch and kernels of {dims + 2} dimensions each; shapes "
            f"{input.shape} and {weight.shape} were given."
        )
    beyond = [side for size in reversed(weight.shape[2:]) for side in (0, size - 1)]
    return functional.pad(input, beyond)


def tile(input: Tensor, kernel: tuple[int, int]) -> tuple[Tensor, int, int]:
    """Cut images into tiles of a size, and put the elements of each in a row.

    Args:
        input: shape (batch, channels, height, width).
        kernel: height and width of a tile, which divide those of the images.

    Returns:
        The tiles, of shape (batch, channels, new height, new width, elements of a tile), the new
        height and the new width.

    Raises:
        InputError: the input is no batch of floating-point images, or their height and width are
            no multiples of a tile's.
        SettingError: the size is not of two positive integers.
    """
    high, wide = integers("kernel", kernel, 2, 1)
    batch, channels, height, width = as_batch("tile", input, 2).shape
    if input.ndim != 4 or height % high or width % wide:
        raise InputError(
            f"tile() takes a batch of images whose height and width are multiples of those of a "
            f"tile, {(high, wide)}; shape {input.shape} was given."
        )
    new_height, new_width = height // high, width // wide
    tiles = input.reshape(batch, channels, new_height, high, new_width, wide)
    tiles = tiles.permute(0, 1, 2, 4, 3, 5)
    return tiles.reshape(batch, channels, new_height, new_width, high * wide), new_height, new_width


def avgpool2d(input: Tensor, kernel: tuple[int, int]) -> Tensor:
    """Return the mean of each tile, shape (batch, channels, new height, new width); see `tile`."""
    return tile(input, kernel)[0].mean(4)


def maxpool2d(input: Tensor, kernel: tuple[int, int]) -> Tensor:
    """Return the largest element of each tile; see `avgpool2d`."""
    return max(tile(input, kernel)[0], 4).squeeze(4)


def argmax(input: Tensor, dim: int) -> Tensor:
    """Return 1 where an element is the largest along a dimension, and 0 elsewhere.

    Of several largest elements each gets a 1; torch's `argmax` returns the place of one.

    Args:
        input: any shape, which is also that of the result, as is the dtype.
        dim: the dimension.

    Raises:
        IndexingError: there is no such dimension.
        ShapeError: the dimension has no elements.
    """
    largest = input.detach().amax(dim, keepdim=True)
    return (input.detach() == largest).to(input.dtype)


def max(input: Tensor, dim: int) -> Tensor:
    """Return the largest elements along a dimension, which stays, with size 1.

    Of several largest elements each gets an equal part of the gradient, where the course gives the
    whole to each: the sum of the parts is the derivative.

    Args:
        input: any shape.
        dim: the dimension.

    Raises:
        IndexingError: there is no such dimension.
        ShapeError: the dimension has no elements.
    """
    return input.amax(dim, keepdim=True)


def softmax(input: Tensor, dim: int) -> Tensor:
    """Return `exp(input)` divided by its sum along a dimension."""
    return input.softmax(dim)


def logsoftmax(input: Tensor, dim: int) -> Tensor:
    """Return the logarithm of `softmax`, without under- or overflow."""
    return input.log_softmax(dim)


def dropout(input: Tensor, p: float, ignore: bool = False) -> Tensor:
    """Set each element to zero with probability `p`; the others stay as they are.

    In torch these are scaled by `1 / (1 - p)`.

    Args:
        input: any shape, which is also that of the result.
        p: the probability that an element is set to zero.
        ignore: whether the input is returned as it is.

    Raises:
        SettingError: `p` is no probability.
    """
    check_probability(p)
    if ignore:
        return input
    kept = rand(*input.shape, backend=input.backend) >= p
    return input * kept.to(input.dtype)
