"""Convolution: kernels slid over signals, images and volumes.

A kernel is multiplied with every window of an image. With the windows above as rows, that is one
product of matrices, and its derivative is that of views and products: none is written here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from mt_nn.core.arguments import check_one_dtype, over_dimensions
from mt_nn.core.errors import InputError, SettingError
from mt_nn.core.settings import Sizes, choice, integer, integers
from mt_nn.core.windows import as_batch, check_windows, pairs, windows
from mt_tensor import Tensor, fused, pad
from mt_tensor.extending import Shape, common_backend


def conv(
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Slide kernels over signals, images or volumes (cross-correlation, as in torch).

    Args:
        dims: 1 in `conv1d`, 2 in `conv2d`, 3 in `conv3d`: how many extents there are.
        input: shape (batch, in channels, *extents), or without the batch.
        weight: shape (out channels, in channels / groups, *kernel extents).
        bias: shape (out channels,), or None.
        stride: how far apart windows are.
        padding: zeros added on each side; or "valid" for none, or "same" for as many as make the
            output as large as the input, the odd one after it, where the stride is 1.
        dilation: how far apart the elements of a window are.
        groups: into how many independent parts the channels are split.

    Returns:
        Shape (batch, out channels, *out extents), where an extent becomes
        `(extent + 2 padding - dilation (kernel - 1) - 1) // stride + 1`.

    Raises:
        InputError: the shapes do not fit each other.
        SettingError: a setting makes no sense.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    name = f"conv{dims}d"
    batch = as_batch(name, input, dims)
    groups = integer("groups", groups, 1)
    steps = integers("stride", stride, dims, 1)
    spreads = integers("dilation", dilation, dims, 1)
    kernels = weight._tensor.layout.shape
    if padding.__class__ is str:
        batch, margins = _padded(batch, str(padding), kernels[2:], steps, spreads)
    else:
        margins = integers("padding", padding, dims, 0)
    biases = None if bias is None else bias._tensor.layout.shape
    inputs = batch._tensor.layout.shape
    _check_shapes(name, inputs, kernels, biases, margins, spreads, groups)
    check_one_dtype(name, batch, weight, bias)
    common_backend(batch, weight, bias)
    out = CONVOLVE[dims](batch, weight, bias, steps, margins, spreads, groups)
    return out if len(input._tensor.layout.shape) == len(inputs) else out.squeeze(0)


conv1d, conv2d, conv3d = over_dimensions(conv)


def check_padding_name(padding: str, stride: tuple[int, ...]) -> None:
    """Raise SettingError unless a padding that is given by name fits the stride."""
    if choice("padding", padding, ("same", "valid")) == "same" and stride != (1,) * len(stride):
        raise SettingError(
            f"padding='same' is for a stride of 1, with which an output can be as large as its "
            f"input; got stride {stride}."
        )


def same_padding(kernel: Shape, dilation: tuple[int, ...]) -> tuple[Shape, Shape]:
    """Return how much to add before and after for an output as large as the input."""
    totals = [spread * (size - 1) for size, spread in zip(kernel, dilation, strict=False)]
    return tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)


def _padded(
    input: Tensor, padding: str, kernel: Shape, stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[Tensor, tuple[int, ...]]:
    """Return an input with what padding by name adds after it alone, and what it adds around it."""
    check_padding_name(padding, stride)
    if padding == "valid":
        return input, (0,) * len(stride)
    befores, afters = same_padding(kernel, dilation)
    if befores != afters:
        odd = tuple(after - before for before, after in zip(befores, afters, strict=True))
        input = pad(input, pairs((0,) * len(odd), odd))
    return input, befores


@functools.lru_cache(1024)
def _check_shapes(
    name: str,
    inputs: Shape,
    kernels: Shape,
    biases: Shape | None,
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> None:
    """Raise InputError unless shapes fit each other; those that do are remembered."""
    if len(kernels) != len(inputs) or 0 in (kernels[0], *kernels[2:]):
        raise InputError(
            f"{name}() takes a weight of shape (out channels, in channels / groups, *kernel size), "
            f"of as many dimensions as the batch, with kernels of at least one element; shape "
            f"{kernels} was given for inputs of shape {inputs}."
        )
    outputs, channels = kernels[:2]
    if outputs % groups or channels * groups != inputs[1]:
        raise InputError(
            f"{name}() with a weight of shape {kernels} and groups={groups} expects "
            f"{channels * groups} channels and a multiple of {groups} outputs; inputs of shape "
            f"{inputs} were given."
        )
    if biases is not None and biases != (outputs,):
        raise InputError(
            f"{name}() with a weight of shape {kernels} takes a bias of shape {(outputs,)}; shape "
            f"{biases} was given."
        )
    check_windows(inputs, kernels[2:], padding, dilation)


# --- The computation ------------------------------------------------------------------------------


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


def _conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int],
    padding: tuple[int],
    dilation: tuple[int],
    groups: int,
) -> Tensor:
    """Convolve signals as images of height 1; the arguments are those of `conv1d`, checked."""
    settings = ((1, *stride), (0, *padding), (1, *dilation))
    return _conv2d(input.unsqueeze(2), weight.unsqueeze(2), bias, *settings, groups).squeeze(2)


@fused("conv3d")
def _conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, int, int],
    padding: tuple[int, int, int],
    dilation: tuple[int, int, int],
    groups: int,
) -> Tensor:
    """Convolve volumes as images, one for each output depth; the arguments are checked.

    The planes that a kernel sees of a volume become channels of such an image.
    """
    seen = weight.shape[2]
    margin, spread = (padding[0], 0), (dilation[0], 1)
    taps = windows(input.flatten(3), (seen, 1), (stride[0], 1), margin, spread)
    n, channels, depth = taps.shape[:3]
    images = taps.squeeze(5).permute(0, 2, 1, 4, 3)
    images = images.reshape(n * depth, channels * seen, *input.shape[3:])
    kernels = weight.flatten(1, 2)
    out = _conv2d(images, kernels, bias, stride[1:], padding[1:], dilation[1:], groups)
    return out.view(n, depth, *out.shape[1:]).permute(0, 2, 1, 3, 4)


CONVOLVE: dict[int, Callable[..., Tensor]] = {1: _conv1d, 2: _conv2d, 3: _conv3d}
"""Convolutions over one, two and three dimensions, of checked arguments in the order of `conv2d`'s,
of tensors of one dtype."""
