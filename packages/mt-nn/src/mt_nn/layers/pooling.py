"""Pooling: the largest element, the mean or a norm of each window, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from mt_nn import functional
from mt_nn.module import Module
from mt_nn.settings import Sizes, integers
from mt_tensor import Tensor


class _MaxPool(Module):
    """What the poolings to the largest element share: their settings.

    Args:
        kernel_size: the extents of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: how much is added on each side.
        dilation: how far apart the elements of a window are.
        return_indices: whether to return as well where the elements are.
        ceil_mode: whether there is one more window where elements are left over at the end.
    """

    function: ClassVar[str]

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

    def forward(self, input: Tensor) -> Any:
        """Return shape (batch, channels, *windows), or a pair of that and the places."""
        return getattr(functional, self.function)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest element of each window of signals; see `MaxPool2d`."""

    function = "max_pool1d"


class MaxPool2d(_MaxPool):
    """The largest element of each window of images; see `mt_nn.functional.max_pool2d`."""

    function = "max_pool2d"


class MaxPool3d(_MaxPool):
    """The largest element of each window of volumes; see `MaxPool2d`."""

    function = "max_pool3d"


class _MaxUnpool(Module):
    """What the ways back share: the settings of the pooling."""

    dims: ClassVar[int]
    function: ClassVar[str]

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = integers("kernel_size", kernel_size, self.dims, 1)
        self.stride = integers("stride", kernel_size if stride is None else stride, self.dims, 1)
        self.padding = integers("padding", padding, self.dims, 0)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Return shape (batch, channels, *extents), from what the pooling returned."""
        result: Tensor = getattr(functional, self.function)(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )
        return result

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Undoes `MaxPool1d`; see `MaxUnpool2d`."""

    dims = 1
    function = "max_unpool1d"


class MaxUnpool2d(_MaxUnpool):
    """Undoes `MaxPool2d` with zeros for what it left out; see `mt_nn.functional.max_unpool2d`."""

    dims = 2
    function = "max_unpool2d"


class MaxUnpool3d(_MaxUnpool):
    """Undoes `MaxPool3d`; see `MaxUnpool2d`."""

    dims = 3
    function = "max_unpool3d"


class AvgPool1d(Module):
    """The mean of each window of signals; see `AvgPool2d`."""

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

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (batch, channels, windows)."""
        return functional.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(Module):
    """What the means over images and volumes share: their settings.

    Args:
        kernel_size: the extents of the window.
        stride: how far apart windows are; the kernel's size if None.
        padding: zeros added on each side.
        ceil_mode: whether there is one more window where elements are left over at the end.
        count_include_pad: whether padding counts.
        divisor_override: what sums are divided by, in place of the number of elements that count.
    """

    function: ClassVar[str]

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

    def forward(self, input: Tensor) -> Tensor:
        """Return shape (batch, channels, *windows)."""
        result: Tensor = getattr(functional, self.function)(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip
        return result

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPool):
    """The mean of each window of images; see `mt_nn.functional.avg_pool2d`."""

    function = "avg_pool2d"


class AvgPool3d(_AvgPool):
    """The mean of each window of volumes; see `AvgPool2d`."""

    function = "avg_pool3d"


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
        result: Tensor = getattr(functional, self.function)(
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
