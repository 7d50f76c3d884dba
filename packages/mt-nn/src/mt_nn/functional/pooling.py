"""Pooling of windows to a norm, and the mean of windows of signals as torch has it."""

from __future__ import annotations

import math

from mt_nn.core.arguments import checked, over_dimensions
from mt_nn.core.pooling import avg_pool, max_pool
from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch
from mt_nn.errors import SettingError
from mt_tensor import Tensor
from mt_tensor.extending import as_number


@checked
def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of signals; see `avg_pool2d`, which can do more."""
    return avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def lp_pool(
    dims: int,
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return a norm of each window: the root of order p of the sum of powers of order p.

    Powers are of the elements, not of their sizes, as in torch: where p is odd, sums may be below
    zero, and have no root. The gradient of a sum of zero is 0. The last windows in `ceil_mode` are
    weighed as if they were full.

    Args:
        dims: 1 in `lp_pool1d`, 2 in `lp_pool2d`, 3 in `lp_pool3d`: how many extents there are.
        input: shape (batch, channels, *extents), or without the batch.
        norm_type: p; inf for the size of the largest element, -inf for that of the smallest.
        kernel_size: the extents of the window.
        stride: how far apart windows are; the kernel's size if None.
        ceil_mode: whether there is one more window where elements are left over at the end.

    Returns:
        The shape of `max_pool2d`.

    Raises:
        InputError: the input holds no such images, or a window is larger than one.
        SettingError: a setting makes no sense.
    """
    power = float(as_number("norm_type", norm_type))
    if power == 0.0 or math.isnan(power):
        raise SettingError(f"norm_type must be a number other than 0; got {norm_type}.")
    as_batch(f"lp_pool{dims}d", input, dims)
    if math.isinf(power):
        sizes = input.abs() if power > 0 else -input.abs()
        largest: Tensor = max_pool(dims, sizes, kernel_size, stride, ceil_mode=ceil_mode)
        return largest.abs()
    means = avg_pool(dims, input.pow(power), kernel_size, stride, ceil_mode=ceil_mode)
    count = math.prod(integers("kernel_size", kernel_size, dims, 1))
    return (means.sign() * means.abs().relu() * count).pow(1.0 / power)


lp_pool1d, lp_pool2d, lp_pool3d = over_dimensions(lp_pool)
