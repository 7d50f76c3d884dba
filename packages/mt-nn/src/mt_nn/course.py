"""The functions of the fourth module of MiniTorch, with the names and rules of the course.

Each is a few lines around functions with the names of torch, for readers who know the course. The
docstrings describe where the rules differ. New code should use `mt_nn.functional`.
"""

from __future__ import annotations

from mt_nn import functional
from mt_nn.core.dropout import check_probability
from mt_nn.core.settings import integers
from mt_nn.core.windows import as_batch
from mt_nn.errors import InputError
from mt_tensor import Tensor, rand


def conv1d(input: Tensor, weight: Tensor) -> Tensor:
    """Convolve signals; the output is as long as the input.

    The input is padded with zeros at the end only, which torch does not support.

    Args:
        input: shape (batch, in channels, length).
        weight: shape (out channels, in channels, kernel length).

    Returns:
        Shape (batch, out channels, length).

    Raises:
        InputError: the shapes do not match.
    """
    return functional.conv1d(_padded(input, weight, 1), weight)


def conv2d(input: Tensor, weight: Tensor) -> Tensor:
    """Convolve images; the output is as large as the input, as in `conv1d`.

    Args:
        input: shape (batch, in channels, height, width).
        weight: shape (out channels, in channels, kernel height, kernel width).

    Returns:
        Shape (batch, out channels, height, width).

    Raises:
        InputError: the shapes do not match.
    """
    return functional.conv2d(_padded(input, weight, 2), weight)


def _padded(input: Tensor, weight: Tensor, dims: int) -> Tensor:
    """Pad an input with zeros at the end, so that the output has the same size."""
    if input.ndim != dims + 2 or weight.ndim != dims + 2 or 0 in weight.shape[2:]:
        raise InputError(
            f"conv{dims}d() takes a batch and kernels of {dims + 2} dimensions each; shapes "
            f"{input.shape} and {weight.shape} were given."
        )
    padding = [side for size in reversed(weight.shape[2:]) for side in (0, size - 1)]
    return functional.pad(input, padding)


def tile(input: Tensor, kernel: tuple[int, int]) -> tuple[Tensor, int, int]:
    """Divide images into tiles, and flatten each tile.

    Args:
        input: shape (batch, channels, height, width).
        kernel: height and width of a tile, which divide those of the images.

    Returns:
        The tiles, of shape (batch, channels, new height, new width, elements of a tile), the new
        height and the new width.

    Raises:
        InputError: the input is not a batch of floating-point images, or height and width are not
            multiples of those of a tile.
        SettingError: the size is not two positive integers.
    """
    rows, columns = integers("kernel", kernel, 2, 1)
    batch, channels, height, width = as_batch("tile", input, 2).shape
    if input.ndim != 4 or height % rows or width % columns:
        raise InputError(
            f"tile() takes a batch of images whose height and width are multiples of those of a "
            f"tile, {(rows, columns)}; shape {input.shape} was given."
        )
    new_sizes = (height // rows, width // columns)
    tiles = input.reshape(batch, channels, new_sizes[0], rows, new_sizes[1], columns)
    tiles = tiles.permute(0, 1, 2, 4, 3, 5)
    return tiles.reshape(batch, channels, *new_sizes, rows * columns), *new_sizes


def avgpool2d(input: Tensor, kernel: tuple[int, int]) -> Tensor:
    """Return the mean of each tile, shape (batch, channels, new height, new width); see `tile`."""
    return tile(input, kernel)[0].mean(4)


def maxpool2d(input: Tensor, kernel: tuple[int, int]) -> Tensor:
    """Return the largest element of each tile; see `avgpool2d`."""
    return max(tile(input, kernel)[0], 4).squeeze(4)


def argmax(input: Tensor, dim: int) -> Tensor:
    """Return 1 where an element is the largest along a dimension, and 0 elsewhere.

    All of several largest elements are 1; `argmax` of torch returns the index of one.

    Args:
        input: any shape; the result has the same shape and dtype.
        dim: the dimension.

    Raises:
        IndexingError: `dim` is out of range.
        ShapeError: the dimension has no elements.
    """
    largest = input.detach().amax(dim, keepdim=True)
    return (input.detach() == largest).to(input.dtype)


def max(input: Tensor, dim: int) -> Tensor:
    """Return the largest elements along a dimension, which is kept with size 1.

    The gradient is divided evenly among several largest elements, so that the sum is the
    derivative; in the course, each gets the full gradient.

    Args:
        input: any shape.
        dim: the dimension.

    Raises:
        IndexingError: `dim` is out of range.
        ShapeError: the dimension has no elements.
    """
    return input.amax(dim, keepdim=True)


def softmax(input: Tensor, dim: int) -> Tensor:
    """Return `exp(input)` divided by its sum along a dimension."""
    return input.softmax(dim)


def logsoftmax(input: Tensor, dim: int) -> Tensor:
    """Return the logarithm of `softmax`, computed without underflow or overflow."""
    return input.log_softmax(dim)


def dropout(input: Tensor, p: float, ignore: bool = False) -> Tensor:
    """Set each element to zero with probability `p`, without scaling the rest.

    In torch, the rest is scaled by `1 / (1 - p)`.

    Args:
        input: any shape; the result has the same shape.
        p: the probability.
        ignore: if True, return the input unchanged.

    Raises:
        SettingError: `p` is not between 0 and 1.
    """
    check_probability("dropout", p)
    if ignore:
        return input
    kept = rand(*input.shape, backend=input.backend) >= p
    return input * kept.to(input.dtype)
