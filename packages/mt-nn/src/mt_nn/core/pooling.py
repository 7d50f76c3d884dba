"""Max pooling of images.

`mt_nn.layers.pooling` adds average pooling, signals and volumes, dilated windows, and `ceil_mode`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from mt_nn.core.arguments import checked
from mt_nn.core.extensions import check, extension
from mt_nn.core.module import Module
from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch, windows
from mt_tensor import Tensor, elementwise, fused


@checked
def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window; the first of equal ones gets the gradient.

    Args:
        input: shape (batch, channels, height, width), or without the batch.
        kernel_size: height and width of a window.
        stride: distance between windows; the kernel size if None.
        padding: number of elements of -infinity added on each side, at most half the kernel size.
        dilation: distance between the elements of a window.
        ceil_mode: whether to add an incomplete window for the remaining elements at the end.
        return_indices: whether to return the positions of the elements, too.

    Returns:
        Shape (batch, channels, out height, out width), with sizes
        `(size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1`, rounded down, or up in
        `ceil_mode`. With `return_indices`, a pair of this and the int64 positions in the flattened
        image; see `max_unpool2d`.

    Raises:
        InputError: the shape or dtype of the input is invalid, or a window exceeds the image.
        SettingError: a setting is invalid.
    """
    if dilation != 1 or ceil_mode or return_indices:
        settings = (kernel_size, stride, padding, dilation, ceil_mode, return_indices)
        return extension("max pooling")(2, input, *settings)
    batch = as_batch("max_pool2d", input, 2)
    kernel = integers("kernel_size", kernel_size, 2, 1)
    strides = kernel if stride is None else integers("stride", stride, 2, 1)
    margins = integers("padding", padding, 2, 0)
    check("pooling", "max_pool2d", batch.shape, kernel, margins, (1, 1))
    out = _max_pool2d(batch, kernel, strides, margins)
    return out.squeeze(0) if input.ndim == 3 else out


@fused("max_pool2d", wide=True)
def _max_pool2d(
    input: Tensor, kernel_size: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...]
) -> Tensor:
    """Compute `max_pool2d` by comparing element (i, j) of all windows at once, for each i and j.

    The first of equal elements is kept; nan counts as largest.
    """
    view = windows(input, kernel_size, stride, padding, value=float("-inf"))
    rows, columns = kernel_size
    first, *others = [view[..., i, j] for i in range(rows) for j in range(columns)]
    largest = first.clone()
    for other in others:
        is_larger = ((other > largest).logical_or(other.isnan())).logical_and(largest == largest)
        largest = elementwise("where", is_larger, other, largest)
    return largest


class MaxPool(Module):
    """Base class of max pooling layers; the arguments are those of `max_pool2d`."""

    function: ClassVar[Callable[..., Any]]

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
        """Return a tensor (batch, channels, *out sizes) for (batch, channels, *sizes)."""
        settings = (self.kernel_size, self.stride, self.padding, self.dilation)
        return self.function(input, *settings, self.ceil_mode, self.return_indices)

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool2d(MaxPool):
    """Max pooling of images; see `max_pool2d`."""

    function = staticmethod(max_pool2d)
