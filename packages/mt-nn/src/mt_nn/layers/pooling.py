"""Pooling over images: the largest element or the mean of each window."""

from __future__ import annotations

from mt_nn import functional
from mt_nn.module import Module
from mt_nn.settings import Pair
from mt_tensor import Tensor


class _Pool2d(Module):
    """What the pooling layers share: their settings.

    Args:
        kernel_size: height and width of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: elements added on each side.
    """

    def __init__(self, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool2d(_Pool2d):
    """The largest element of each window; see `mt_nn.functional.max_pool2d`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (batch, channels, out height, out width)."""
        return functional.max_pool2d(input, self.kernel_size, self.stride, self.padding)


class AvgPool2d(_Pool2d):
    """The mean of each window; see `mt_nn.functional.avg_pool2d`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (batch, channels, out height, out width)."""
        return functional.avg_pool2d(input, self.kernel_size, self.stride, self.padding)
