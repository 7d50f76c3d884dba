"""Convolution: kernels slid over images and signals."""

from __future__ import annotations

import functools

from mt_nn.errors import InputError
from mt_nn.functional.windows import check_images, check_windows, windows
from mt_nn.settings import Pair, integer, pair
from mt_tensor import Tensor, fused, result_type
from mt_tensor.recording.function import common_backend
from mt_tensor.strides import Shape


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """Slide kernels over signals; the same as `conv2d` on images of height 1.

    Args:
        input: shape (batch, in channels, length).
        weight: shape (out channels, in channels / groups, kernel length).
        bias: shape (out channels,), or None.
        stride: how far apart windows are.
        padding: zeros added on each side.
        dilation: how far apart the elements of a window are.
        groups: into how many independent parts the channels are split.

    Returns:
        Shape (batch, out channels, out length); see `conv2d`.

    Raises:
        InputError: the shapes do not fit each other.
        SettingError: a setting makes no sense.
        BackendMismatchError: the tensors belong to different backends.
    """
    if input.ndim != 3 or weight.ndim != 3:
        raise InputError(
            "conv1d() takes signals of shape (batch, channels, length) and a weight of shape "
            f"(out channels, in channels / groups, kernel length); shapes {input.shape} and "
            f"{weight.shape} were given."
        )
    steps = (1, integer("stride", stride, 1))
    margin = (0, integer("padding", padding, 0))
    spread = (1, integer("dilation", dilation, 1))
    images, kernels = input.unsqueeze(2), weight.unsqueeze(2)
    return conv2d(images, kernels, bias, steps, margin, spread, groups).squeeze(2)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """Slide kernels over images (cross-correlation, as in torch).

    Args:
        input: shape (batch, in channels, height, width).
        weight: shape (out channels, in channels / groups, kernel height, kernel width).
        bias: shape (out channels,), or None.
        stride: how far apart windows are.
        padding: zeros added on each side.
        dilation: how far apart the elements of a window are.
        groups: into how many independent parts the channels are split.

    Returns:
        Shape (batch, out channels, out height, out width), where an extent becomes
        `(extent + 2 padding - dilation (kernel - 1) - 1) // stride + 1`.

    Raises:
        InputError: the shapes do not fit each other.
        SettingError: a setting makes no sense.
        BackendMismatchError: the tensors belong to different backends.
    """
    check_images("conv2d", input)
    groups = integer("groups", groups, 1)
    steps, margin = pair("stride", stride, 1), pair("padding", padding, 0)
    spread = pair("dilation", dilation, 1)
    biases = None if bias is None else bias.shape
    _check_shapes(input.shape, weight.shape, biases, margin, spread, groups)
    common_backend(input, weight, bias)
    dtype = input.dtype
    if weight.dtype is not dtype or (bias is not None and bias.dtype is not dtype):
        dtype = result_type(*(x for x in (input, weight, bias) if x is not None))
        input, weight = input.to(dtype), weight.to(dtype)
        bias = None if bias is None else bias.to(dtype)
    return _conv2d(input, weight, bias, steps, margin, spread, groups)


@functools.lru_cache(1024)
def _check_shapes(
    images: Shape,
    kernels: Shape,
    biases: Shape | None,
    padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
) -> None:
    """Raise InputError unless shapes fit each other; those that do are remembered."""
    if len(kernels) != 4 or 0 in kernels[2:]:
        raise InputError(
            "conv2d() takes a weight of shape (out channels, in channels / groups, kernel height, "
            f"kernel width), with a kernel of at least one element; shape {kernels} was given."
        )
    outputs, channels, height, width = kernels
    if outputs % groups or channels * groups != images[1]:
        raise InputError(
            f"conv2d() with a weight of shape {kernels} and groups={groups} expects "
            f"{channels * groups} channels and a multiple of {groups} outputs; images of shape "
            f"{images} were given."
        )
    if biases is not None and biases != (outputs,):
        raise InputError(
            f"conv2d() with a weight of shape {kernels} takes a bias of shape {(outputs,)}; shape "
            f"{biases} was given."
        )
    check_windows(images, (height, width), padding, dilation)


@fused("conv2d")
def _conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
) -> Tensor:
    """Convolve; the arguments are those of `conv2d`, checked, and the tensors are of one dtype.

    Every window becomes a row, so that one matrix product with the kernels does the work.
    """
    kernel = (weight.shape[2], weight.shape[3])
    seen = windows(input, kernel, stride, padding, dilation)
    n, _, h, w = seen.shape[:4]
    outputs = weight.shape[0]
    channels, each = weight.shape[1], outputs // groups  # inputs and outputs of a group
    grouped = seen.view(n, groups, channels, h, w, *kernel) if groups > 1 else seen.unsqueeze(1)
    seen_by_one = channels * kernel[0] * kernel[1]
    rows = grouped.permute(1, 0, 3, 4, 2, 5, 6).reshape(groups, n * h * w, seen_by_one)
    kernels = weight.reshape(groups, each, seen_by_one)
    out = (rows @ kernels.mT).view(groups, n, h, w, each)
    out = out.permute(1, 0, 4, 2, 3).reshape(n, outputs, h, w)
    return out if bias is None else out + bias.view(-1, 1, 1)
