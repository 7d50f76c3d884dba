"""Layers of pooling of signals and of volumes, and of windows to a norm."""

from __future__ import annotations

from mt_nn import functional
from mt_nn.core.pooling import MaxPool
from mt_nn.core.settings import Sizes, integers
from mt_nn.layers.function import FunctionLayer


class MaxPool1d(MaxPool):
    """The largest element of each window of signals; see `MaxPool2d`."""

    function = staticmethod(functional.max_pool1d)


class MaxPool3d(MaxPool):
    """The largest element of each window of volumes; see `MaxPool2d`."""

    function = staticmethod(functional.max_pool3d)


class AvgPool(FunctionLayer):
    """Base of the layers of mean pooling; the arguments are those of `avg_pool2d`."""

    shown = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override


class AvgPool2d(AvgPool):
    """The mean of each window of images; see `mt_nn.functional.avg_pool2d`."""

    function = staticmethod(functional.avg_pool2d)


class AvgPool1d(FunctionLayer):
    """The mean of each window of signals; see `AvgPool2d`."""

    shown = ("kernel_size", "stride", "padding")

    function = staticmethod(functional.avg_pool1d)

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = integers("kernel_size", kernel_size, 1, 1)
        self.stride = integers("stride", kernel_size if stride is None else stride, 1, 1)
        self.padding = integers("padding", padding, 1, 0)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad


class AvgPool3d(AvgPool):
    """The mean of each window of volumes; see `AvgPool2d`."""

    function = staticmethod(functional.avg_pool3d)


class _LPPool(FunctionLayer):
    """What the norms of windows share: their settings.

    Args:
        norm_type: the order of the norm.
        kernel_size: the sizes of the window.
        stride: distance between windows; the kernel's size if None.
        ceil_mode: whether there is one more window where elements are left over at the end.
    """

    shown = ("norm_type", "kernel_size", "stride", "ceil_mode")

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


class LPPool1d(_LPPool):
    """A norm of each window of signals; see `LPPool2d`."""

    function = staticmethod(functional.lp_pool1d)


class LPPool2d(_LPPool):
    """A norm of each window of images; see `mt_nn.functional.lp_pool2d`."""

    function = staticmethod(functional.lp_pool2d)


class LPPool3d(_LPPool):
    """A norm of each window of volumes; see `LPPool2d`."""

    function = staticmethod(functional.lp_pool3d)
