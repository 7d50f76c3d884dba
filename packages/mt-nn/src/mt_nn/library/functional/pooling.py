"""Pooling of signals and of volumes, and of windows to a norm."""

from __future__ import annotations

import math
from typing import Any

from mt_nn.errors import SettingError
from mt_nn.functional.arguments import checked
from mt_nn.functional.pooling import (
    Settings,
    pool_largest,
    pool_means,
)
from mt_nn.settings import Sizes, integers
from mt_tensor import Tensor
from mt_tensor.extending import as_number


@checked
def max_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of signals; see `max_pool2d`."""
    settings = (kernel_size, stride, padding, dilation, ceil_mode)
    return pool_largest("max_pool1d", 1, input, settings, return_indices)


@checked
def max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window of volumes; see `max_pool2d`."""
    settings = (kernel_size, stride, padding, dilation, ceil_mode)
    return pool_largest("max_pool3d", 3, input, settings, return_indices)


@checked
def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of signals; see `avg_pool2d`."""
    settings = (kernel_size, stride, padding, 1, ceil_mode)
    return pool_means("avg_pool1d", 1, input, settings, count_include_pad, None)


@checked
def avg_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window of volumes; see `avg_pool2d`."""
    settings = (kernel_size, stride, padding, 1, ceil_mode)
    return pool_means("avg_pool3d", 3, input, settings, count_include_pad, divisor_override)


@checked
def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return a norm of each window of signals; see `lp_pool2d`."""
    return _lp_pool("lp_pool1d", 1, input, norm_type, (kernel_size, stride, 0, 1, ceil_mode))


@checked
def lp_pool2d(
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
        input: shape (batch, channels, height, width), or without the batch.
        norm_type: p; inf for the size of the largest element, -inf for that of the smallest.
        kernel_size: height and width of the window.
        stride: how far apart windows are; the kernel's size if None.
        ceil_mode: whether there is one more window where elements are left over at the end.

    Returns:
        The shape of `max_pool2d`.

    Raises:
        InputError: the input holds no such images, or a window is larger than one.
        SettingError: a setting makes no sense.
    """
    return _lp_pool("lp_pool2d", 2, input, norm_type, (kernel_size, stride, 0, 1, ceil_mode))


@checked
def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return a norm of each window of volumes; see `lp_pool2d`."""
    return _lp_pool("lp_pool3d", 3, input, norm_type, (kernel_size, stride, 0, 1, ceil_mode))


def _lp_pool(name: str, dims: int, input: Tensor, norm_type: float, settings: Settings) -> Tensor:
    """Check the arguments of a norm over some dimensions, and pool."""
    power = float(as_number("norm_type", norm_type))
    if power == 0.0 or math.isnan(power):
        raise SettingError(f"norm_type must be a number other than 0; got {norm_type}.")
    if math.isinf(power):
        sizes = input.abs() if power > 0 else -input.abs()
        return pool_largest(name, dims, sizes, settings, False).abs()  # type: ignore[no-any-return]
    means = pool_means(name, dims, input.pow(power), settings, True, None)
    count = math.prod(integers("kernel_size", settings[0], dims, 1))
    return (means.sign() * means.abs().relu() * count).pow(1.0 / power)
