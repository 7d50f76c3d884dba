"""Convolution of images: the function and the layer.

Convolution takes the dot product of a kernel with every window of an image. With the windows as
rows, this is one matrix product, and its gradient follows from those of views and matrix products.
`mt_nn.layers.convolution` adds signals, volumes, and padding by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from mt_nn.core.arguments import check_compatible, checked
from mt_nn.core.extensions import check, extension
from mt_nn.core.init import init_like_torch
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import Sizes, integer, integers
from mt_nn.core.windows import as_batch, windows
from mt_tensor import Tensor, fused, zeros
from mt_tensor.core.registry import Device


@checked
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve images with kernels (cross-correlation, as in torch).

    Args:
        input: shape (batch, in channels, height, width), or without the batch.
        weight: shape (out channels, in channels / groups, kernel height, kernel width).
        bias: shape (out channels,), or None.
        stride: distance between windows.
        padding: number of zeros added on each side; "valid" for none; or, if the stride is 1,
            "same" for an output as large as the input, with the odd zero at the end.
        dilation: distance between the elements of a window.
        groups: number of independent groups of channels.

    Returns:
        Shape (batch, out channels, out height, out width), with sizes
        `(size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1`.

    Raises:
        InputError: the shapes do not match.
        SettingError: a setting is invalid.
        DTypeError: the tensors have different dtypes.
        BackendMismatchError: the tensors belong to different backends.
    """
    settings = (stride, padding, dilation, groups)
    return convolved(2, _conv2d, input, weight, bias, *settings)


def convolved(
    dims: int,
    compute: Callable[..., Tensor],
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes | str,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    """Check the arguments of a convolution over `dims` dimensions, and compute it.

    `compute` is called with tensors of equal dtype; settings except `groups` are tuples.
    """
    name = f"conv{dims}d"
    batch = as_batch(name, input, dims)
    groups = integer("groups", groups, 1)
    strides = integers("stride", stride, dims, 1)
    steps = integers("dilation", dilation, dims, 1)
    kernels = weight._tensor.layout.shape
    if padding.__class__ is str:
        batch, margins = extension("padding by name")(batch, padding, kernels[2:], strides, steps)
    else:
        margins = integers("padding", padding, dims, 0)
    biases = None if bias is None else bias._tensor.layout.shape
    inputs = batch._tensor.layout.shape
    check("convolution", name, inputs, kernels, biases, margins, steps, groups)
    check_compatible(name, batch, weight, bias)
    out = compute(batch, weight, bias, strides, margins, steps, groups)
    return out if len(input._tensor.layout.shape) == len(inputs) else out.squeeze(0)


# --- The computation ------------------------------------------------------------------------------


@fused("conv2d", wide=True)
def _conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
) -> Tensor:
    """Compute `conv2d` as one matrix product of the windows, as rows, with the kernels."""
    kernel = (weight.shape[2], weight.shape[3])
    view = windows(input, kernel, stride, padding, dilation)
    n, _, h, w = view.shape[:4]
    outputs = weight.shape[0]
    channels, each = weight.shape[1], outputs // groups  # inputs and outputs of a group
    grouped = view.view(n, groups, channels, h, w, *kernel) if groups > 1 else view.unsqueeze(1)
    length = channels * kernel[0] * kernel[1]
    rows = grouped.permute(1, 0, 3, 4, 2, 5, 6).reshape(groups, n * h * w, length)
    kernels = weight.reshape(groups, each, length)
    out = (rows @ kernels.mT).view(groups, n, h, w, each)
    out = out.permute(1, 0, 4, 2, 3).reshape(n, outputs, h, w)
    return out if bias is None else out + bias.view(-1, 1, 1)


# --- Layers ---------------------------------------------------------------------------------------


class Kernels(Module):
    """Base class of convolution layers: their settings and parameters."""

    dims: ClassVar[int]
    function: ClassVar[Callable[..., Tensor]]
    padding: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        dilation: Sizes,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device,
        dtype: Any,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels = integer("in_channels", in_channels, 1)
        self.out_channels = out_channels = integer("out_channels", out_channels, 1)
        self.groups = integer("groups", groups, 1)
        self.kernel_size = integers("kernel_size", kernel_size, self.dims, 1)
        self.stride = integers("stride", stride, self.dims, 1)
        self.dilation = integers("dilation", dilation, self.dims, 1)
        self.output_padding = (0,) * self.dims
        self.padding_mode = padding_mode
        check("settings of a convolution", self)
        shape = (*self._channels(), *self.kernel_size)
        self.weight = Parameter(zeros(*shape, device=device, dtype=dtype))
        self.bias = Parameter(zeros(out_channels, device=device, dtype=dtype)) if bias else None
        init_like_torch(self.weight, self.bias)

    def _channels(self) -> tuple[int, int]:
        """Return the first two sizes of the weight."""
        return self.out_channels, self.in_channels // self.groups

    def extra_repr(self) -> str:
        """Return the settings, some only if they differ from the default, as torch does."""
        zero, one = (0,) * self.dims, (1,) * self.dims
        optional = [
            ("padding", self.padding, zero),
            ("dilation", self.dilation, one),
            ("output_padding", self.output_padding, zero),
            ("groups", self.groups, 1),
            ("bias", self.bias is not None, True),
            ("padding_mode", self.padding_mode, "zeros"),
        ]
        shown = [f", {name}={value}" for name, value, default in optional if value != default]
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}{''.join(shown)}"
        )


class Convolution(Kernels):
    """Base class of `Conv1d`, `Conv2d` and `Conv3d`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: Any = None,
    ) -> None:
        settings = (kernel_size, stride, dilation, groups, bias, padding_mode, device, dtype)
        super().__init__(in_channels, out_channels, *settings)
        if isinstance(padding, str):
            extension("check of padding by name")(padding, self.stride)
            self.padding = padding
        else:
            self.padding = integers("padding", padding, self.dims, 0)

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor (batch, out_channels, *out sizes) for (batch, in_channels, *sizes)."""
        padding: Sizes | str = self.padding
        if self.padding_mode != "zeros":
            input, padding = extension("padding by mode")(self, input), 0
        return self.function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class Conv2d(Convolution):
    """Convolve images; see `mt_nn.functional.conv2d`.

    Args:
        in_channels: number of channels of the input.
        out_channels: number of channels of the output, one per kernel.
        kernel_size: height and width of the kernels.
        stride: distance between windows.
        padding: number of elements added on each side, or "same" or "valid".
        dilation: distance between the elements of a window.
        groups: number of independent groups of channels.
        bias: whether to add a bias to each channel.
        padding_mode: "zeros", or "reflect", "replicate" or "circular", the modes of
            `mt_nn.functional.pad`.
        device, dtype: those of the parameters.

    Attributes:
        weight: shape (out_channels, in_channels / groups, kernel height, kernel width).
        bias: shape (out_channels,), or None.
    """

    dims = 2
    function = staticmethod(conv2d)
