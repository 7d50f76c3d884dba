"""Pooling to a given output size: adaptive pooling and fractional max pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.dimensions import check_not_empty, over_dimensions
from mt_nn.layers.function import FunctionLayer
from mt_nn.layers.pooling import avg_pool, flat_taps, max_of_taps, max_pool
from mt_nn.layers.resampling import adaptive_mean, adaptive_taps
from mt_nn.utils.settings import check, number
from mt_tensor import Tensor, no_grad, rand, tensor
from mt_tensor.extending import Array

OutputSize = int | None | Sequence[int | None]
"""One size for all dimensions, or one for each; None for the size of the input."""


def adaptive_avg_pool(dims: int, input: Tensor, output_size: OutputSize) -> Tensor:
    """Return means of windows of signals, images or volumes, for a given output size.

    The input is divided into as many windows as the output has elements; with an output size of 1,
    this is global average pooling. Window i of n starts at `floor(i * size / n)` and ends before
    `ceil((i + 1) * size / n)`; windows overlap if n does not divide the size.

    Args:
        dims: number of sizes; fixed by the public functions.
        input: shape (batch, channels, *sizes), or without the batch.
        output_size: the sizes of the output, or one for all; None for the size of the input.

    Returns:
        Shape (batch, channels, *output_size).

    Raises:
        InputError: the shape or dtype of the input is invalid, or it is empty.
        SettingError: `output_size` is invalid.
    """
    name = f"adaptive_avg_pool{dims}d"
    batch = as_batch(name, input, dims)
    resizes = _resizes(name, batch.shape, output_size)
    if all(length % target == 0 for length, target in resizes):
        return avg_pool(dims, input, tuple(length // target for length, target in resizes))
    for dim, (length, target) in enumerate(resizes, 2):
        if target != length:
            batch = adaptive_mean(batch, dim, target)
    return batch.squeeze(0) if input.ndim == dims + 1 else batch


def adaptive_max_pool(
    dims: int, input: Tensor, output_size: OutputSize, return_indices: bool = False
) -> Any:
    """Return maxima of windows of signals, images or volumes, for a given output size.

    The windows are those of `adaptive_avg_pool2d`.

    Args:
        dims: number of sizes; fixed by the public functions.
        input: shape (batch, channels, *sizes), or without the batch.
        output_size: see `adaptive_avg_pool2d`, which raises the same errors.
        return_indices: whether to return the positions of the elements, too.

    Returns:
        Shape (batch, channels, *output_size). With `return_indices`, a pair of this and the int64
        positions in the flattened signal, image or volume.
    """
    name = f"adaptive_max_pool{dims}d"
    batch = as_batch(name, input, dims)
    resizes = _resizes(name, batch.shape, output_size)
    check_not_empty(name, batch.shape)
    if all(length % target == 0 for length, target in resizes):
        kernel = tuple(length // target for length, target in resizes)
        return max_pool(dims, input, kernel, return_indices=return_indices)
    values, indices = max_of_taps(batch, [adaptive_taps(*resize) for resize in resizes])
    if input.ndim == dims + 1:
        values, indices = values.squeeze(0), indices.squeeze(0)
    return (values, indices) if return_indices else values


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = over_dimensions(adaptive_avg_pool)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = over_dimensions(adaptive_max_pool)


def _resizes(name: str, shape: tuple[int, ...], output_size: OutputSize) -> list[tuple[int, int]]:
    """Check `output_size`; return pairs of input and output size."""
    lengths = shape[2:]
    if 0 in lengths:
        raise InputError(f"{name}() takes non-empty inputs; shape {shape} was given.")
    dims = len(lengths)
    given = tuple(output_size) if isinstance(output_size, tuple | list) else (output_size,) * dims
    check("output_size", output_size, len(given) == dims, f"one size or {dims}")
    sizes = tuple(old if new is None else new for old, new in zip(lengths, given, strict=True))
    return list(zip(lengths, integers("output_size", sizes, dims, 1), strict=True))


# --- Layers ---------------------------------------------------------------------------------------


class _AdaptivePool(FunctionLayer):
    """Base class of adaptive pooling layers; see `adaptive_avg_pool2d` for `output_size`."""

    output_size: OutputSize


class AdaptiveAvgPool1d(_AdaptivePool, function=adaptive_avg_pool1d):
    """Adaptive average pooling of signals; see `AdaptiveAvgPool2d`."""


class AdaptiveAvgPool2d(_AdaptivePool, function=adaptive_avg_pool2d):
    """Adaptive average pooling of images; see `mt_nn.functional.adaptive_avg_pool2d`."""


class AdaptiveAvgPool3d(_AdaptivePool, function=adaptive_avg_pool3d):
    """Adaptive average pooling of volumes; see `AdaptiveAvgPool2d`."""


class _AdaptiveMaxPool(_AdaptivePool):
    """Base class of adaptive max pooling layers; see `adaptive_max_pool2d`."""

    return_indices: bool = False


class AdaptiveMaxPool1d(_AdaptiveMaxPool, function=adaptive_max_pool1d):
    """Adaptive max pooling of signals; see `AdaptiveMaxPool2d`."""


class AdaptiveMaxPool2d(_AdaptiveMaxPool, function=adaptive_max_pool2d):
    """Adaptive max pooling of images; see `mt_nn.functional.adaptive_max_pool2d`."""


class AdaptiveMaxPool3d(_AdaptiveMaxPool, function=adaptive_max_pool3d):
    """Adaptive max pooling of volumes; see `AdaptiveMaxPool2d`."""


# --- Fractional max pooling -----------------------------------------------------------------------


Ratios = float | tuple[float, ...]
"""One ratio for all dimensions, or one for each."""


def fractional_max_pool(
    dims: int,
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Ratios | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return maxima of pseudo-random windows of signals, images or volumes.

    The windows are roughly equidistant. With `a = (size - kernel) / (outputs - 1)` and a random
    number u from 0 to 1, window i starts at `floor((i + u) * a) - floor(u * a)`; the last window
    ends with the input (Graham 2014, "Fractional Max-Pooling").

    Args:
        dims: number of sizes; fixed by the public functions.
        input: shape (batch, channels, *sizes), or without the batch.
        kernel_size: the sizes of a window.
        output_size: the sizes of the output; or None if `output_ratio` is given.
        output_ratio: the ratios of output and input sizes, between 0 and 1; or None.
        return_indices: whether to also return positions in the flattened signal, image or volume.
        _random_samples: the numbers u for each channel, shape (batch, channels, number of sizes);
            random if None. `fractional_max_pool2d` takes those of the width first.

    Returns:
        Shape (batch, channels, *output_size). With `return_indices`, a pair of this and the int64
        positions.

    Raises:
        InputError: the shape or dtype of the input is invalid, or it is too small.
        SettingError: a setting is invalid, or neither or both of size and ratio are given.
    """
    name, samples = f"fractional_max_pool{dims}d", _random_samples
    batch = as_batch(name, input, dims)
    check_not_empty(name, batch.shape)
    n, channels, *lengths = batch.shape
    kernel = integers("kernel_size", kernel_size, dims, 1)
    size = output_sizes(name, lengths, output_size, output_ratio)
    each_dim = list(zip(lengths, kernel, size, strict=True))
    if any(outputs + window - 1 > length for length, window, outputs in each_dim):
        raise InputError(
            f"{name}() needs {size} windows of size {kernel} with different starts; the input of "
            f"shape {input.shape} is too small."
        )
    if samples is None:
        samples = rand(n, channels, dims, dtype=batch.dtype)
    is_valid = samples.ndim == 3 and samples.shape[1:] == (channels, dims) and len(samples) >= n
    if not is_valid or samples.dtype is not batch.dtype:
        raise InputError(
            f"{name}() takes _random_samples of shape {(n, channels, dims)}, or of a larger batch, "
            f"and the input's dtype; shape {samples.shape} and {samples.dtype.name} were given."
        )
    drawn = samples.detach()._numbers()[:n]
    drawn = drawn[..., ::-1] if dims == 2 else drawn  # torch takes that of the width first
    taps = flat_taps(lengths, [_taps(drawn[..., i], *each) for i, each in enumerate(each_dim)])
    flat = batch.flatten(2)
    with no_grad():
        table = tensor(taps, backend=batch.backend)
        values = flat.gather(2, table.flatten(2)).view(*taps.shape)
        indices = table.gather(3, values.argmax(3, keepdim=True)).squeeze(3)
    results = [each.unflatten(2, size) for each in (flat.gather(2, indices), indices)]
    if input.ndim == dims + 1:
        results = [each.squeeze(0) for each in results]
    return tuple(results) if return_indices else results[0]


_, fractional_max_pool2d, fractional_max_pool3d = over_dimensions(fractional_max_pool)


def output_sizes(
    name: str, lengths: list[int], output_size: Sizes | None, output_ratio: Ratios | None
) -> tuple[int, ...]:
    """Return the output sizes, given directly or as ratios of the input sizes."""
    if (output_size is None) == (output_ratio is None):
        raise SettingError(f"{name}() takes either an output_size or an output_ratio.")
    dims = len(lengths)
    if output_ratio is None:
        return integers("output_size", output_size, dims, 1)
    ratios = output_ratio if isinstance(output_ratio, tuple | list) else (output_ratio,) * dims
    ratios = ratios * dims if len(ratios) == 1 else ratios
    is_valid = len(ratios) == dims and all(0 < number("a ratio", r) < 1 for r in ratios)
    expected = f"one number or {dims}, above 0 and below 1"
    check("output_ratio", output_ratio, is_valid, expected)
    sizes = tuple(int(length * ratio) for length, ratio in zip(lengths, ratios, strict=True))
    return integers("output_size", sizes, dims, 1)


def _taps(drawn: Array, length: int, window: int, outputs: int) -> Array:
    """Return the indices of the elements of windows along one dimension.

    They are computed in the dtype of the random numbers, as in torch.

    Returns:
        Shape (*drawn.shape, outputs, window).
    """
    starts = np.full((*drawn.shape, outputs), length - window)
    if outputs > 1:
        step = drawn.dtype.type((length - window) / (outputs - 1))
        first = (drawn * step).astype(np.int64)[..., None]
        steps = np.arange(outputs - 1, dtype=drawn.dtype)
        starts[..., :-1] = ((steps + drawn[..., None]) * step).astype(np.int64) - first
    return starts[..., None] + np.arange(window)


# --- Layers ---------------------------------------------------------------------------------------


class _FractionalMaxPool(FunctionLayer):
    """Base class of fractional max pooling layers; see `fractional_max_pool2d` for arguments."""

    kernel_size: Sizes
    output_size: Sizes | None = None
    output_ratio: Ratios | None = None
    return_indices: bool = False
    _random_samples: Tensor | None = None


class FractionalMaxPool2d(_FractionalMaxPool, function=fractional_max_pool2d):
    """Fractional max pooling of images; see `mt_nn.functional.fractional_max_pool2d`."""


class FractionalMaxPool3d(_FractionalMaxPool, function=fractional_max_pool3d):
    """Fractional max pooling of volumes; see `mt_nn.functional.fractional_max_pool3d`."""
