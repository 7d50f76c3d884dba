"""Convolution of signals and volumes, and the padding that convolutions take by name.

A transposed convolution is what the gradient of a convolution does to its output: a convolution
itself, of inputs with zeros between their elements, by kernels that are turned around (Dumoulin and
Visin, A guide to convolution arithmetic for deep learning, 2016, section 4).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mt_nn.core.arguments import check_alike
from mt_nn.core.convolution import Convolution, Kernels, _conv2d, convolved
from mt_nn.core.extensions import extends
from mt_nn.core.settings import Sizes, integer, integers
from mt_nn.core.windows import as_batch, windows
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.dimensions import over_dimensions, pairs
from mt_nn.layers.padding import pad
from mt_nn.utils.settings import choice
from mt_tensor import Tensor, fused
from mt_tensor import pad as pad_with_zeros
from mt_tensor.extending import Embed, Shape


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


# --- Transposed convolution -----------------------------------------------------------------------


Numbers = tuple[int, ...]


def conv_transpose(
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Lay down a kernel for each element of the input, times that element, and add up.

    Args:
        dims: 1 in `conv_transpose1d`, 2 in `conv_transpose2d`, 3 in `conv_transpose3d`: how many
            sizes there are.
        input: shape (batch, in channels, *sizes), or without the batch.
        weight: shape (in channels, out channels / groups, *kernel sizes).
        bias: shape (out channels,), or None.
        stride: distance between the positions of kernels.
        padding: how much of the result is cut off on each side.
        output_padding: how much is added to the end, less than the stride or the dilation; of the
            sizes that a convolution of this stride makes equal, it chooses one.
        groups: into how many independent parts the channels are split.
        dilation: how far apart the elements of a kernel are.

    Returns:
        Shape (batch, out channels, *out sizes), where a size becomes
        `(size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1`.

    Raises:
        InputError: the shapes do not fit each other, or nothing would be left.
        SettingError: an invalid setting.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    name = f"conv_transpose{dims}d"
    batch = as_batch(name, input, dims)
    groups = integer("groups", groups, 1)
    settings = (stride, padding, output_padding, dilation)
    names = ("stride", "padding", "output_padding", "dilation")
    checked = [
        integers(setting, value, dims, least)
        for setting, value, least in zip(names, settings, (1, 0, 0, 1), strict=True)
    ]
    biases = None if bias is None else bias.shape
    _check_shapes(name, batch.shape, weight.shape, biases, tuple(checked), groups)
    check_alike(name, batch, weight, bias)
    out = _TRANSPOSE[dims](batch, weight, bias, *checked, groups)
    return out.squeeze(0) if input.ndim == dims + 1 else out


conv_transpose1d, conv_transpose2d, conv_transpose3d = over_dimensions(conv_transpose)


@functools.lru_cache(1024)
def _check_shapes(
    name: str,
    inputs: Shape,
    kernels: Shape,
    biases: Shape | None,
    settings: tuple[Numbers, ...],
    groups: int,
) -> None:
    """Raise unless shapes and settings fit each other; those that do are cached."""
    stride, padding, output_padding, dilation = settings
    for added, step, spread in zip(output_padding, stride, dilation, strict=True):
        if added >= max(step, spread):
            raise SettingError(
                f"output_padding {output_padding} must be less than the stride {stride} or the "
                f"dilation {dilation} in each dimension."
            )
    if len(kernels) != len(inputs) or 0 in kernels[1:] or kernels[0] != inputs[1]:
        raise InputError(
            f"{name}() takes a weight of shape (in channels, out channels / groups, *kernel size), "
            f"of as many dimensions as the batch, with kernels of at least one element; shape "
            f"{kernels} was given for inputs of shape {inputs}."
        )
    if kernels[0] % groups:
        raise InputError(
            f"{name}() with groups={groups} expects a multiple of {groups} channels; inputs of "
            f"shape {inputs} were given."
        )
    outputs = kernels[1] * groups
    if biases is not None and biases != (outputs,):
        raise InputError(
            f"{name}() with a weight of shape {kernels} and groups={groups} takes a bias of shape "
            f"{(outputs,)}; shape {biases} was given."
        )
    sizes = transposed_sizes(inputs[2:], kernels[2:], stride, padding, dilation)
    left = tuple(size + added for size, added in zip(sizes, output_padding, strict=True))
    if 0 in inputs[2:] or min(left) < 1:
        raise InputError(
            f"{name}() of inputs of shape {inputs} with kernels of size {kernels[2:]} and padding "
            f"{padding} would leave sizes of {left}."
        )


def transposed_sizes(
    lengths: Shape, kernel: Shape, stride: Numbers, padding: Numbers, dilation: Numbers
) -> Shape:
    """Return the sizes of a transposed convolution before anything is added to the end."""
    every = zip(lengths, kernel, stride, padding, dilation, strict=True)
    return tuple(
        (length - 1) * step - 2 * margin + spread * (size - 1) + 1
        for length, size, step, margin, spread in every
    )


def _conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any) -> Tensor:
    """Compute it for signals as images of height 1; the arguments are checked."""
    *sizes, groups = settings
    pairs: Any = [(usual, *size) for usual, size in zip((1, 0, 0, 1), sizes, strict=True)]
    images, kernels = input.unsqueeze(2), weight.unsqueeze(2)
    return _TRANSPOSE[2](images, kernels, bias, *pairs, groups).squeeze(2)


def _transposed_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output_padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    """Convolve with turned kernels, as many zeros around the inputs as let each element meet all.

    Where more is to be cut off than kernels reach beyond the inputs, it is cut off the inputs.
    """
    dims = len(stride)
    kernels = weight.view(groups, weight.shape[0] // groups, *weight.shape[1:]).transpose(1, 2)
    kernels = kernels.flatten(0, 1).flip(*range(2, 2 + dims))
    reach = [s * (k - 1) - p for s, k, p in zip(dilation, weight.shape[2:], padding, strict=True)]
    cuts = tuple(min(beyond, 0) for beyond in reach)
    ends = tuple(cut + added for cut, added in zip(cuts, output_padding, strict=True))
    spread = pad_with_zeros(_spread(input, stride), pairs(cuts, ends))
    margins = tuple(max(beyond, 0) for beyond in reach)
    return CONVOLVE[dims](spread, kernels, bias, (1,) * dims, margins, dilation, groups)


def _spread(input: Tensor, stride: tuple[int, ...]) -> Tensor:
    """Return inputs with zeros between their elements, which are `stride` apart then."""
    if max(stride) == 1:
        return input
    lengths = ((e - 1) * step + 1 for e, step in zip(input.shape[2:], stride, strict=True))
    shape = (*input.shape[:2], *lengths)
    return Embed.apply(input, shape, (0,) * len(shape), (1, 1, *stride), input._tensor.shape)


_conv_transpose2d = fused("conv_transpose2d")(_transposed_convolution)

_TRANSPOSE: dict[int, Callable[..., Tensor]] = {
    1: _conv_transpose1d,
    2: _conv_transpose2d,
    3: fused("conv_transpose3d")(_transposed_convolution),
}


# --- Layers ---------------------------------------------------------------------------------------


class TransposedConvolution(Kernels):
    """What transposed convolutions share: how they find the size of their output."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
    ) -> None:
        if padding_mode != "zeros":
            raise SettingError(
                f"{type(self).__name__} takes padding_mode 'zeros' alone; got {padding_mode!r}."
            )
        super().__init__(
            in_channels, out_channels, kernel_size, stride, dilation, groups, bias, padding_mode
        )
        self.padding = integers("padding", padding, self.dims, 0)
        self.output_padding = integers("output_padding", output_padding, self.dims, 0)

    def _channels(self) -> tuple[int, int]:
        return self.in_channels, self.out_channels // self.groups

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return shape (batch, out_channels, *sizes).

        Args:
            input: shape (batch, in_channels, *sizes), or without the batch.
            output_size: the sizes of the output, perhaps after batch and channels; None for those
                that `output_padding` makes. They may exceed those without it by less than the
                stride.

        Raises:
            InputError: the input does not fit.
            SettingError: the output cannot have that size.
        """
        added = self.output_padding
        if output_size is not None:
            added = self._added(input, tuple(output_size))
        return self.function(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups,
            self.dilation,
        )  # fmt: skip

    def _added(self, input: Tensor, output_size: tuple[int, ...]) -> tuple[int, ...]:
        """Return the output padding for an output of a given size."""
        lengths = as_batch(type(self).__name__, input, self.dims).shape[2:]
        least = transposed_sizes(
            lengths, self.kernel_size, self.stride, self.padding, self.dilation
        )
        if len(output_size) == input.ndim:
            output_size = output_size[-self.dims :]
        size = integers("output_size", output_size, self.dims, 0)
        added = tuple(wanted - length for wanted, length in zip(size, least, strict=True))
        if any(not 0 <= more < step for more, step in zip(added, self.stride, strict=True)):
            raise SettingError(
                f"output_size must be from {least} on and exceed it by less than the stride "
                f"{self.stride}, for an input of shape {input.shape}; got {output_size}."
            )
        return added


class ConvTranspose1d(TransposedConvolution):
    """Kernels laid down for each element of signals; see `mt_nn.functional.conv_transpose1d`.

    Arguments and attributes are those of `ConvTranspose2d`, with one size instead of two.
    """

    dims = 1
    function = staticmethod(conv_transpose1d)


class ConvTranspose2d(TransposedConvolution):
    """Kernels laid down for each element of images; see `mt_nn.functional.conv_transpose2d`.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: height and width of the kernels.
        stride: distance between the positions of kernels.
        padding: how much of the result is cut off on each side.
        output_padding: how much is added to the end, less than the stride or the dilation.
        groups: into how many independent parts the channels are split.
        bias: whether to add a bias to each channel.
        dilation: how far apart the elements of a kernel are.
        padding_mode: "zeros", the only one there is.

    Attributes:
        weight: shape (in_channels, out_channels / groups, kernel height, kernel width).
        bias: shape (out_channels,), or None.
    """

    dims = 2
    function = staticmethod(conv_transpose2d)


class ConvTranspose3d(TransposedConvolution):
    """Kernels laid down for each element of volumes; see `mt_nn.functional.conv_transpose3d`.

    Arguments and attributes are those of `ConvTranspose2d`, with three sizes instead of two.
    """

    dims = 3
    function = staticmethod(conv_transpose3d)
