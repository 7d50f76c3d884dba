"""Convolution of signals and volumes, and the padding that convolutions take by name."""

from __future__ import annotations

from collections.abc import Callable

from mt_nn.core.convolution import Convolution, Kernels, _conv2d, convolved
from mt_nn.core.errors import SettingError
from mt_nn.core.extensions import extends
from mt_nn.core.settings import Sizes
from mt_nn.core.windows import windows
from mt_nn.layers.dimensions import over_dimensions, pairs
from mt_nn.layers.padding import pad
from mt_nn.utils.settings import choice
from mt_tensor import Tensor, fused
from mt_tensor import pad as pad_with_zeros
from mt_tensor.extending import Shape


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
    """Slide kernels over signals, or over volumes: `conv2d` for other numbers of sizes.

    Args:
        dims: 1 in `conv1d`, 3 in `conv3d`: how many sizes there are.
        input: shape (batch, in channels, *sizes), or without the batch.
        weight: shape (out channels, in channels / groups, *kernel sizes).
        bias: as for `conv2d`; so for all others.
        stride: see there.
        padding: see there.
        dilation: see there.
        groups: see there.

    Returns:
        Shape (batch, out channels, *out sizes).
    """
    settings = (stride, padding, dilation, groups)
    return convolved(dims, CONVOLVE[dims], input, weight, bias, *settings)


conv1d, _, conv3d = over_dimensions(conv)


def _conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int],
    padding: tuple[int],
    dilation: tuple[int],
    groups: int,
) -> Tensor:
    """Compute `conv1d`: signals are images of height 1."""
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
    """Compute `conv3d` as a convolution of images, one for each output depth.

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


# --- Settings of layers, and padding by name and by mode ------------------------------------------


@extends("settings of a convolution")
def check_layer(layer: Kernels) -> None:
    """Raise SettingError unless groups divide the channels, and the padding mode exists."""
    if layer.in_channels % layer.groups or layer.out_channels % layer.groups:
        raise SettingError(
            f"{type(layer).__name__} takes numbers of channels that are both multiples of "
            f"groups; got {layer.in_channels}, {layer.out_channels} and groups={layer.groups}."
        )
    choice("padding_mode", layer.padding_mode, ("zeros", "reflect", "replicate", "circular"))


@extends("check of padding by name")
def check_padding_name(padding: str, stride: tuple[int, ...]) -> None:
    """Raise SettingError unless a padding that is given by name fits the stride."""
    if choice("padding", padding, ("same", "valid")) == "same" and stride != (1,) * len(stride):
        raise SettingError(
            f"padding='same' is for a stride of 1, with which an output can be as large as its "
            f"input; got stride {stride}."
        )


def _same_padding(kernel: Shape, dilation: tuple[int, ...]) -> tuple[Shape, Shape]:
    """Return the padding before and after for an output as large as the input."""
    totals = [spread * (size - 1) for size, spread in zip(kernel, dilation, strict=False)]
    return tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)


@extends("padding by name")
def padded_by_name(
    input: Tensor, padding: str, kernel: Shape, stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[Tensor, tuple[int, ...]]:
    """Return the input, padded where the two sides differ, and the padding of both sides."""
    check_padding_name(padding, stride)
    if padding == "valid":
        return input, (0,) * len(stride)
    before, after = _same_padding(kernel, dilation)
    if before != after:
        odd = tuple(last - first for first, last in zip(before, after, strict=True))
        input = pad_with_zeros(input, pairs((0,) * len(odd), odd))
    return input, before


@extends("padding by mode")
def padded_by_mode(layer: Convolution, input: Tensor) -> Tensor:
    """Return the input of a layer of convolution, padded with its own elements."""
    if layer.padding == "same":
        amounts = pairs(*_same_padding(layer.kernel_size, layer.dilation))
    elif layer.padding == "valid":
        amounts = [0] * (2 * layer.dims)
    else:
        amounts = pairs(layer.padding, layer.padding)
    return pad(input, amounts, layer.padding_mode)


# --- Layers ---------------------------------------------------------------------------------------


class Conv1d(Convolution):
    """Convolution of signals: `Conv2d` with one size instead of two."""

    dims = 1
    function = staticmethod(conv1d)


class Conv3d(Convolution):
    """Convolution of volumes: `Conv2d` with three sizes instead of two."""

    dims = 3
    function = staticmethod(conv3d)
