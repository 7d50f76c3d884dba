"""Layers of convolution over signals, images and volumes.

They are to the functions of convolution what `Linear` is to `linear`, with more settings; padding
that is no constant is done here, before the function is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from mt_nn.core.convolution import check_padding_name, conv1d, conv2d, conv3d, same_padding
from mt_nn.core.errors import SettingError
from mt_nn.core.init import init_like_torch
from mt_nn.core.module import Module
from mt_nn.core.padding import pad
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import Sizes, choice, integer, integers
from mt_nn.core.windows import pairs
from mt_tensor import Tensor, zeros

_MODES = ("zeros", "reflect", "replicate", "circular")


class Kernels(Module):
    """What all convolutions share: their settings and parameters."""

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
    ) -> None:
        super().__init__()
        self.in_channels = in_channels = integer("in_channels", in_channels, 1)
        self.out_channels = out_channels = integer("out_channels", out_channels, 1)
        self.groups = groups = integer("groups", groups, 1)
        if in_channels % groups or out_channels % groups:
            raise SettingError(
                f"{type(self).__name__} takes numbers of channels that are both multiples of "
                f"groups; got {in_channels}, {out_channels} and groups={groups}."
            )
        self.kernel_size = integers("kernel_size", kernel_size, self.dims, 1)
        self.stride = integers("stride", stride, self.dims, 1)
        self.dilation = integers("dilation", dilation, self.dims, 1)
        self.output_padding = (0,) * self.dims
        self.padding_mode = choice("padding_mode", padding_mode, _MODES)
        self.weight = Parameter(zeros(*self._channels(), *self.kernel_size))
        self.bias = Parameter(zeros(out_channels)) if bias else None
        init_like_torch(self.weight, self.bias)

    def _channels(self) -> tuple[int, int]:
        """Return the first two extents of the weight."""
        return self.out_channels, self.in_channels // self.groups

    def extra_repr(self) -> str:
        """Show the settings, as torch does: some only where they are not the default."""
        none, ones = (0,) * self.dims, (1,) * self.dims
        every = [
            ("padding", self.padding, none),
            ("dilation", self.dilation, ones),
            ("output_padding", self.output_padding, none),
            ("groups", self.groups, 1),
            ("bias", self.bias is not None, True),
            ("padding_mode", self.padding_mode, "zeros"),
        ]
        shown = [f", {name}={value}" for name, value, default in every if value != default]
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}{''.join(shown)}"
        )


class Convolution(Kernels):
    """What convolutions share that make things smaller: how they pad."""

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
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, dilation, groups, bias, padding_mode
        )
        befores = afters = (0,) * self.dims
        if isinstance(padding, str):
            check_padding_name(padding, self.stride)
            self.padding = padding
            if padding == "same":
                befores, afters = same_padding(self.kernel_size, self.dilation)
        else:
            self.padding = befores = afters = integers("padding", padding, self.dims, 0)
        self._around = pairs(befores, afters)

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (batch, out_channels, *extents)."""
        padding: Sizes | str = self.padding
        if self.padding_mode != "zeros":
            input, padding = pad(input, self._around, self.padding_mode), 0
        return self.function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(Convolution):
    """Kernels slid over signals; see `mt_nn.functional.conv1d`.

    Arguments and attributes are those of `Conv2d`, with one extent in place of two.
    """

    dims = 1
    function = staticmethod(conv1d)


class Conv2d(Convolution):
    """Kernels slid over images; see `mt_nn.functional.conv2d`.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output, one for each kernel.
        kernel_size: height and width of the kernels.
        stride: how far apart windows are.
        padding: how much is added on each side, or "same" or "valid".
        dilation: how far apart the elements of a window are.
        groups: into how many independent parts the channels are split.
        bias: whether to add a bias to each channel.
        padding_mode: what is added: "zeros", or what the modes "reflect", "replicate" and
            "circular" of `mt_nn.functional.pad` add.

    Attributes:
        weight: shape (out_channels, in_channels / groups, kernel height, kernel width).
        bias: shape (out_channels,), or None.
    """

    dims = 2
    function = staticmethod(conv2d)


class Conv3d(Convolution):
    """Kernels slid over volumes; see `mt_nn.functional.conv3d`.

    Arguments and attributes are those of `Conv2d`, with three extents in place of two.
    """

    dims = 3
    function = staticmethod(conv3d)
