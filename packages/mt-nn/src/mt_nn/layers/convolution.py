"""Convolution of signals and volumes, transposed convolution, and padding by name or mode.

A transposed convolution is the gradient of a convolution with respect to its input. It is computed
as a convolution with flipped kernels, of inputs with zeros inserted between their elements
(Dumoulin and Visin, A guide to convolution arithmetic for deep learning, 2016, section 4).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mt_nn.core.arguments import check_compatible
from mt_nn.core.convolution import Convolution, Kernels, _conv2d, convolved
from mt_nn.core.extensions import extends
from mt_nn.core.settings import Sizes, integer, integers
from mt_nn.core.windows import as_batch, windows
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.dimensions import Numbers, over_dimensions, pairs
from mt_nn.layers.padding import pad
from mt_nn.utils.settings import choice
from mt_tensor import Tensor, fused
from mt_tensor import pad as pad_with_zeros
from mt_tensor.extending import Device, Embed, Shape, check_addressable


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
    """Convolve signals, images or volumes; see `conv2d` for the settings and errors.

    Args:
        dims: number of sizes; fixed by the public functions.
        input: shape (batch, in channels, *sizes), or without the batch.
        weight: shape (out channels, in channels / groups, *kernel sizes).
        bias: shape (out channels,), or None.
        stride: distance between windows.
        padding: number of zeros added on each side, or "same" or "valid".
        dilation: distance between the elements of a window.
        groups: number of independent groups of channels.

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
    """Compute `conv1d` as a convolution of images of height 1."""
    settings = ((1, *stride), (0, *padding), (1, *dilation))
    return _conv2d(input.unsqueeze(2), weight.unsqueeze(2), bias, *settings, groups).squeeze(2)


@fused("conv3d", wide=True)
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

    The planes of a volume that a kernel covers become channels of such an image.
    """
    planes = weight.shape[2]
    settings = ((stride[0], 1), (padding[0], 0), (dilation[0], 1))
    taps = windows(input.flatten(3), (planes, 1), *settings)
    n, channels, depth = taps.shape[:3]
    images = taps.squeeze(5).permute(0, 2, 1, 4, 3)
    images = images.reshape(n * depth, channels * planes, *input.shape[3:])
    kernels = weight.flatten(1, 2)
    out = _conv2d(images, kernels, bias, stride[1:], padding[1:], dilation[1:], groups)
    return out.view(n, depth, *out.shape[1:]).permute(0, 2, 1, 3, 4)


CONVOLVE: dict[int, Callable[..., Tensor]] = {1: _conv1d, 2: _conv2d, 3: _conv3d}
"""Convolutions by number of sizes; they take checked arguments in the order of `conv2d`."""


# --- Checks of settings, and padding by name and by mode ------------------------------------------


@extends("settings of a convolution")
def check_layer(layer: Kernels) -> None:
    """Raise SettingError unless `groups` divides both numbers of channels and the mode is valid."""
    if layer.in_channels % layer.groups or layer.out_channels % layer.groups:
        raise SettingError(
            f"{type(layer).__name__} needs in_channels and out_channels to be multiples of groups; "
            f"got {layer.in_channels}, {layer.out_channels} and groups={layer.groups}."
        )
    choice("padding_mode", layer.padding_mode, ("zeros", "reflect", "replicate", "circular"))


@extends("check of padding by name")
def check_padding_name(padding: str, stride: Numbers) -> None:
    """Raise SettingError unless the name is valid, and the stride is 1 for "same"."""
    if choice("padding", padding, ("same", "valid")) == "same" and stride != (1,) * len(stride):
        raise SettingError(
            "a convolution with padding='same' needs a stride of 1, so that the output can be as "
            f"large as the input; got stride {stride}."
        )


def _same_padding(kernel: Shape, dilation: Numbers) -> tuple[Shape, Shape]:
    """Return the padding before and after for an output as large as the input."""
    totals = [spacing * (size - 1) for size, spacing in zip(kernel, dilation, strict=False)]
    return tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)


@extends("padding by name")
def padded_by_name(
    input: Tensor, padding: str, kernel: Shape, stride: Numbers, dilation: Numbers
) -> tuple[Tensor, Numbers]:
    """Return the input, with the odd zero of "same" at its end, and the padding of both sides."""
    check_padding_name(padding, stride)
    if padding == "valid":
        return input, (0,) * len(stride)
    before, after = _same_padding(kernel, dilation)
    lengths = zip(input.shape[-len(before) :], before, after, strict=False)
    check_addressable(tuple(map(sum, lengths)))
    if before != after:
        odd = tuple(last - first for first, last in zip(before, after, strict=True))
        input = pad_with_zeros(input, pairs((0,) * len(odd), odd))
    return input, before


@extends("padding by mode")
def padded_by_mode(layer: Convolution, input: Tensor) -> Tensor:
    """Pad the input of a convolution layer according to its `padding_mode`."""
    if layer.padding == "same":
        amounts = pairs(*_same_padding(layer.kernel_size, layer.dilation))
    elif layer.padding == "valid":
        amounts = [0] * (2 * layer.dims)
    else:
        amounts = pairs(layer.padding, layer.padding)
    return pad(input, amounts, layer.padding_mode)


# --- Layers ---------------------------------------------------------------------------------------


class Conv1d(Convolution):
    """Convolve signals; the arguments are those of `Conv2d`, with one size instead of two."""

    dims = 1
    function = staticmethod(conv1d)


class Conv3d(Convolution):
    """Convolve volumes; the arguments are those of `Conv2d`, with three sizes instead of two."""

    dims = 3
    function = staticmethod(conv3d)


# --- Transposed convolution -----------------------------------------------------------------------


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
    """Apply a transposed convolution to signals, images or volumes.

    Add up the kernels, shifted to the positions of the elements of the input and scaled by them.

    Args:
        dims: number of sizes; fixed by the public functions.
        input: shape (batch, in channels, *sizes), or without the batch.
        weight: shape (in channels, out channels / groups, *kernel sizes).
        bias: shape (out channels,), or None.
        stride: distance between the positions of kernels.
        padding: number of elements to remove from each side of the result.
        output_padding: number of elements to add at the end, less than stride or dilation. It
            selects one of the input sizes for which a convolution has the same output size.
        groups: number of independent groups of channels.
        dilation: distance between the elements of a kernel.

    Returns:
        Shape (batch, out channels, *out sizes), where a size becomes
        `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1`.

    Raises:
        InputError: the shapes do not match, or the result would be empty.
        SettingError: a setting is invalid.
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
    check_compatible(name, batch, weight, bias)
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
    """Raise an error unless shapes and settings are consistent; valid combinations are cached."""
    stride, padding, output_padding, dilation = settings
    if any(n >= max(s, d) for n, s, d in zip(output_padding, stride, dilation, strict=True)):
        raise SettingError(
            f"{name}(): output_padding {output_padding} must be less than the stride {stride} or "
            f"the dilation {dilation} in each dimension."
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
    sizes = tuple(size + added for size, added in zip(sizes, output_padding, strict=True))
    if 0 in inputs[2:] or min(sizes) < 1:
        raise InputError(
            f"{name}() of inputs of shape {inputs} with kernels of size {kernels[2:]} and padding "
            f"{padding} would leave sizes of {sizes}."
        )
    check_addressable((inputs[0], outputs, *sizes))


def transposed_sizes(
    lengths: Shape, kernel: Shape, stride: Numbers, padding: Numbers, dilation: Numbers
) -> Shape:
    """Return the output sizes of a transposed convolution without output padding."""
    each_dim = zip(lengths, kernel, stride, padding, dilation, strict=True)
    return tuple(
        (length - 1) * step - 2 * margin + spacing * (size - 1) + 1
        for length, size, step, margin, spacing in each_dim
    )


def _conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any) -> Tensor:
    """Compute `conv_transpose1d` as a transposed convolution of images of height 1."""
    *sizes, groups = settings
    pairs: Any = [(default, *size) for default, size in zip((1, 0, 0, 1), sizes, strict=True)]
    images, kernels = input.unsqueeze(2), weight.unsqueeze(2)
    return _TRANSPOSE[2](images, kernels, bias, *pairs, groups).squeeze(2)


def _transposed_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Numbers,
    padding: Numbers,
    output_padding: Numbers,
    dilation: Numbers,
    groups: int,
) -> Tensor:
    """Insert zeros between the elements of the inputs, and convolve them with flipped kernels.

    The inputs are padded by `dilation * (kernel - 1) - padding`, or cropped if this is negative.
    """
    dims = len(stride)
    kernels = weight.view(groups, weight.shape[0] // groups, *weight.shape[1:]).transpose(1, 2)
    kernels = kernels.flatten(0, 1).flip(*range(2, 2 + dims))
    sizes = zip(dilation, weight.shape[2:], padding, strict=True)
    margins = [spacing * (size - 1) - removed for spacing, size, removed in sizes]
    crops = tuple(min(margin, 0) for margin in margins)
    ends = tuple(crop + added for crop, added in zip(crops, output_padding, strict=True))
    dilated = pad_with_zeros(_insert_zeros(input, stride), pairs(crops, ends))
    padded = tuple(max(margin, 0) for margin in margins)
    return CONVOLVE[dims](dilated, kernels, bias, (1,) * dims, padded, dilation, groups)


def _insert_zeros(input: Tensor, stride: Numbers) -> Tensor:
    """Insert `stride - 1` zeros between neighboring elements."""
    if max(stride) == 1:
        return input
    lengths = ((e - 1) * step + 1 for e, step in zip(input.shape[2:], stride, strict=True))
    shape = (*input.shape[:2], *lengths)
    return Embed.apply(input, shape, (0,) * len(shape), (1, 1, *stride), input._tensor.shape)


_conv_transpose2d = fused("conv_transpose2d", wide=True)(_transposed_convolution)

_TRANSPOSE: dict[int, Callable[..., Tensor]] = {
    1: _conv_transpose1d,
    2: _conv_transpose2d,
    3: fused("conv_transpose3d", wide=True)(_transposed_convolution),
}


# --- Layers ---------------------------------------------------------------------------------------


class TransposedConvolution(Kernels):
    """Base class of transposed convolution layers, which choose the output size."""

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
        device: Device = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise SettingError(
                f"{type(self).__name__} supports only padding_mode='zeros'; got {padding_mode!r}."
            )
        settings = (kernel_size, stride, dilation, groups, bias, padding_mode, device, dtype)
        super().__init__(in_channels, out_channels, *settings)
        self.padding = integers("padding", padding, self.dims, 0)
        self.output_padding = integers("output_padding", output_padding, self.dims, 0)

    def _channels(self) -> tuple[int, int]:
        return self.in_channels, self.out_channels // self.groups

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return the outputs, shape (batch, out_channels, *sizes).

        Args:
            input: shape (batch, in_channels, *sizes), or without the batch.
            output_size: the sizes of the output, optionally after batch and channels, which
                determine the output padding; None for `self.output_padding`.

        Raises:
            InputError: the shape of the input is invalid.
            SettingError: the output cannot have this size.
        """
        added = self.output_padding
        if output_size is not None:
            added = self._output_padding(input, tuple(output_size))
        settings = (self.stride, self.padding, added, self.groups, self.dilation)
        return self.function(input, self.weight, self.bias, *settings)

    def _output_padding(self, input: Tensor, output_size: Numbers) -> Numbers:
        """Return the output padding for a given output size."""
        lengths = as_batch(type(self).__name__, input, self.dims).shape[2:]
        least = transposed_sizes(
            lengths, self.kernel_size, self.stride, self.padding, self.dilation
        )
        if len(output_size) == input.ndim:
            output_size = output_size[-self.dims :]
        sizes = integers("output_size", output_size, self.dims, 0)
        added = tuple(size - minimum for size, minimum in zip(sizes, least, strict=True))
        if any(not 0 <= more < step for more, step in zip(added, self.stride, strict=True)):
            raise SettingError(
                f"output_size must be at least {least}, and exceed this by less than the stride "
                f"{self.stride}, for an input of shape {input.shape}; got {output_size}."
            )
        return added


class ConvTranspose1d(TransposedConvolution):
    """Transposed convolution of signals; see `mt_nn.functional.conv_transpose1d`.

    Arguments and attributes are those of `ConvTranspose2d`, with one size instead of two.
    """

    dims = 1
    function = staticmethod(conv_transpose1d)


class ConvTranspose2d(TransposedConvolution):
    """Transposed convolution of images; see `mt_nn.functional.conv_transpose2d`.

    Args:
        in_channels: number of channels of the input.
        out_channels: number of channels of the output.
        kernel_size: height and width of the kernels.
        stride: distance between the positions of kernels.
        padding: number of elements to remove from each side of the result.
        output_padding: number of elements to add at the end, less than stride or dilation.
        groups: number of independent groups of channels.
        bias: whether to add a bias to each channel.
        dilation: distance between the elements of a kernel.
        padding_mode: "zeros", the only mode.
        device, dtype: those of the parameters.

    Attributes:
        weight: shape (in_channels, out_channels / groups, kernel height, kernel width).
        bias: shape (out_channels,), or None.
    """

    dims = 2
    function = staticmethod(conv_transpose2d)


class ConvTranspose3d(TransposedConvolution):
    """Transposed convolution of volumes; see `mt_nn.functional.conv_transpose3d`.

    Arguments and attributes are those of `ConvTranspose2d`, with three sizes instead of two.
    """

    dims = 3
    function = staticmethod(conv_transpose3d)
