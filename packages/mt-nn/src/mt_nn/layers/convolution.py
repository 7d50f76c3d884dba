"""Convolution over images."""

from __future__ import annotations

from mt_nn import functional, init
from mt_nn.errors import SettingError
from mt_nn.module import Module
from mt_nn.parameter import Parameter
from mt_nn.settings import Pair, integer, pair
from mt_tensor import Tensor, zeros


class Conv2d(Module):
    """Kernels slid over images; see `mt_nn.functional.conv2d`.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output, one for each kernel.
        kernel_size: height and width of the kernels.
        stride: how far apart windows are.
        padding: zeros added on each side.
        dilation: how far apart the elements of a window are.
        groups: into how many independent parts the channels are split.
        bias: whether to add a bias to each channel.

    Attributes:
        weight: shape (out_channels, in_channels / groups, kernel height, kernel width).
        bias: shape (out_channels,), or None.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Pair,
        stride: Pair = 1,
        padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels = integer("in_channels", in_channels, 1)
        self.out_channels = out_channels = integer("out_channels", out_channels, 1)
        self.groups = groups = integer("groups", groups, 1)
        if in_channels % groups or out_channels % groups:
            raise SettingError(
                "Conv2d takes numbers of channels that are both multiples of groups; got "
                f"{in_channels}, {out_channels} and groups={groups}."
            )
        self.kernel_size = pair("kernel_size", kernel_size, 1)
        self.stride = pair("stride", stride, 1)
        self.padding = pair("padding", padding, 0)
        self.dilation = pair("dilation", dilation, 1)
        self.weight = Parameter(zeros(out_channels, in_channels // groups, *self.kernel_size))
        self.bias = Parameter(zeros(out_channels)) if bias else None
        init.init_like_torch(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (batch, out_channels, out height, out width)."""
        return functional.conv2d(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, padding={self.padding}"
        )
