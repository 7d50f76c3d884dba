"""Layers of pooling over images: the functions of pooling, with their settings kept."""

from __future__ import annotations

from mt_nn.core.function_layer import FunctionLayer
from mt_nn.core.pooling import avg_pool2d, max_pool2d
from mt_nn.core.settings import Sizes


class MaxPool(FunctionLayer):
    """What the poolings to the largest element share: their settings.

    Args:
        kernel_size: the extents of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: how much is added on each side.
        dilation: how far apart the elements of a window are.
        return_indices: whether to return as well where the elements are.
        ceil_mode: whether there is one more window where elements are left over at the end.
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool2d(MaxPool):
    """The largest element of each window of images; see `mt_nn.functional.max_pool2d`."""

    function = staticmethod(max_pool2d)


class AvgPool(FunctionLayer):
    """What the means over images and volumes share: their settings.

    Args:
        kernel_size: the extents of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: zeros added on each side.
        ceil_mode: whether there is one more window where elements are left over at the end.
        count_include_pad: whether padding counts.
        divisor_override: what sums are divided by, in place of the number of elements that count.
    """

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

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(AvgPool):
    """The mean of each window of images; see `mt_nn.functional.avg_pool2d`."""

    function = staticmethod(avg_pool2d)
