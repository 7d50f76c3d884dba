"""Layers of pooling to a norm of each window."""

from __future__ import annotations

from typing import ClassVar

from mt_nn.functional import pooling
from mt_nn.module import Module
from mt_nn.settings import Sizes
from mt_tensor import Tensor


class _LPPool(Module):
    """What the norms of windows share: their settings.

    Args:
        norm_type: the order of the norm.
        kernel_size: the extents of the window.
        stride: how far apart windows are; the kernel's size if None.
        ceil_mode: whether there is one more window where elements are left over at the end.
    """

    function: ClassVar[str]

    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (batch, channels, *windows)."""
        result: Tensor = getattr(pooling, self.function)(
            input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode
        )
        return result

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """A norm of each window of signals; see `LPPool2d`."""

    function = "lp_pool1d"


class LPPool2d(_LPPool):
    """A norm of each window of images; see `mt_nn.functional.lp_pool2d`."""

    function = "lp_pool2d"


class LPPool3d(_LPPool):
    """A norm of each window of volumes; see `LPPool2d`."""

    function = "lp_pool3d"
