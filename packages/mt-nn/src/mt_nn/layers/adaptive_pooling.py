"""Pooling to outputs of a given size, in even parts or in windows that are drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.dimensions import check_not_empty, over_dimensions
from mt_nn.layers.function import FunctionLayer
from mt_nn.layers.pooling import avg_pool, flattened, largest, max_pool
from mt_nn.layers.resampling import means_of_parts, part_taps
from mt_nn.utils.settings import check, number
from mt_tensor import Tensor, no_grad, rand, tensor
from mt_tensor.extending import Array

OutputSize = int | None | Sequence[int | None]
"""One size for all dimensions, or one for each; None for that of the input."""


def adaptive_avg_pool(dims: int, input: Tensor, output_size: OutputSize) -> Tensor:
    """Return the mean of each of so many parts; of a single one, it is global pooling.

    Part i of n goes from `floor(i size / n)` to before `ceil((i + 1) size / n)`, so that parts
    overlap where n does not divide the size.

    Args:
        dims: 1 in `adaptive_avg_pool1d`, 2 in `adaptive_avg_pool2d`, 3 in `adaptive_avg_pool3d`:
            how many sizes there are.
        input: shape (batch, channels, *sizes), or without the batch.
        output_size: the sizes of the output, None for that of the input; or one number for all.

    Returns:
        Shape (batch, channels, *output_size).

    Raises:
        InputError: the input holds no such images, or empty ones.
        SettingError: the output's size is invalid.
    """
    name = f"adaptive_avg_pool{dims}d"
    batch = as_batch(name, input, dims)
    changes = _changes(name, batch.shape, output_size)
    if all(length % target == 0 for length, target in changes):
        return avg_pool(dims, input, tuple(length // target for length, target in changes))
    for dim, (length, target) in enumerate(changes, 2):
        if target != length:
            batch = means_of_parts(batch, dim, target)
    return batch.squeeze(0) if input.ndim == dims + 1 else batch


def adaptive_max_pool(
    dims: int, input: Tensor, output_size: OutputSize, return_indices: bool = False
) -> Any:
    """Return the largest element of each of so many parts.

    The parts are those of `adaptive_avg_pool2d`, as are all arguments but the last, and errors.

    Args:
        dims: 1 in `adaptive_max_pool1d`, 2 in `adaptive_max_pool2d`, 3 in `adaptive_max_pool3d`.
        input: see there.
        output_size: see there.
        return_indices: whether to return as well where the elements are.

    Returns:
        Shape (batch, channels, *output_size). With `return_indices`, a pair of this and the places
        of the elements in the flattened image, of int64.
    """
    name = f"adaptive_max_pool{dims}d"
    batch = as_batch(name, input, dims)
    changes = _changes(name, batch.shape, output_size)
    check_not_empty(batch.shape)
    if all(length % target == 0 for length, target in changes):
        parts = tuple(length // target for length, target in changes)
        return max_pool(dims, input, parts, return_indices=return_indices)
    values, indices = largest(batch, [part_taps(*change) for change in changes])
    if input.ndim == dims + 1:
        values, indices = values.squeeze(0), indices.squeeze(0)
    return (values, indices) if return_indices else values


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = over_dimensions(adaptive_avg_pool)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = over_dimensions(adaptive_max_pool)


def _changes(name: str, shape: tuple[int, ...], output_size: OutputSize) -> list[tuple[int, int]]:
    """Check the size of an output; return each size before and after."""
    lengths = shape[2:]
    if 0 in lengths:
        raise InputError(f"{name}() takes inputs with something in them; got shape {shape}.")
    dims = len(lengths)
    given = tuple(output_size) if isinstance(output_size, tuple | list) else (output_size,) * dims
    check("output_size", output_size, len(given) == dims, f"one size or {dims}")
    every = zip(lengths, given, strict=True)
    wanted = tuple(length if target is None else target for length, target in every)
    return list(zip(lengths, integers("output_size", wanted, dims, 1), strict=True))


# --- Layers ---------------------------------------------------------------------------------------


class _AdaptivePool(FunctionLayer):
    """What the means share: the size of the output; None, in it or for it, for the input's."""

    shown = ("output_size",)
    output_size: OutputSize


class AdaptiveAvgPool1d(_AdaptivePool):
    """The mean of each of so many parts of signals; see `AdaptiveAvgPool2d`."""

    function = staticmethod(adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptivePool):
    """The mean of each of so many parts; see `mt_nn.functional.adaptive_avg_pool2d`."""

    function = staticmethod(adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptivePool):
    """The mean of each of so many parts of volumes; see `AdaptiveAvgPool2d`."""

    function = staticmethod(adaptive_avg_pool3d)


class _AdaptiveMaxPool(_AdaptivePool):
    """What the largest elements share beside: whether places are wanted."""

    return_indices: bool = False


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest element of each of so many parts of signals; see `AdaptiveMaxPool2d`."""

    function = staticmethod(adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest element of each of so many parts; see `mt_nn.functional.adaptive_max_pool2d`."""

    function = staticmethod(adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest element of each of so many parts of volumes; see `AdaptiveMaxPool2d`."""

    function = staticmethod(adaptive_max_pool3d)


# --- In windows that are drawn at random ----------------------------------------------------------


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
    """Return the largest element of each of so many windows, which are about evenly apart.

    After Graham, Fractional Max-Pooling, 2014: with `a = (size - kernel) / (outputs - 1)` and a
    random number u from 0 to 1, window i begins at `floor((i + u) a) - floor(u a)`, and the last
    one ends where the input does.

    Args:
        dims: 2 in `fractional_max_pool2d`, 3 in `fractional_max_pool3d`: how many sizes there
            are.
        input: shape (batch, channels, *sizes), or without the batch.
        kernel_size: the sizes of the windows.
        output_size: the sizes of the output; or else
        output_ratio: these as parts of the input's, above 0 and below 1.
        return_indices: whether to return where the elements were in the flattened image, too.
        _random_samples: the random numbers of each channel, shape (batch, channels, dims); of
            images that of the width first. Drawn if None.

    Returns:
        Shape (batch, channels, *output_size). With `return_indices`, a pair of this and the places,
        of int64.

    Raises:
        InputError: the input holds no such images, or windows do not fit.
        SettingError: an invalid setting, or neither or both of size and ratio are given.
    """
    name, samples = f"fractional_max_pool{dims}d", _random_samples
    batch = as_batch(name, input, dims)
    check_not_empty(batch.shape)
    n, channels, *lengths = batch.shape
    kernel = integers("kernel_size", kernel_size, dims, 1)
    size = output_sizes(name, lengths, output_size, output_ratio)
    every = list(zip(lengths, kernel, size, strict=True))
    if any(outputs + window - 1 > length for length, window, outputs in every):
        raise InputError(
            f"{name}() finds no {size} windows of size {kernel} in an input of shape "
            f"{input.shape}, each of which begins further on than the one before."
        )
    if samples is None:
        samples = rand(n, channels, dims, dtype=batch.dtype)
    fits = samples.ndim == 3 and samples.shape[1:] == (channels, dims) and len(samples) >= n
    if not fits or samples.dtype is not batch.dtype:
        raise InputError(
            f"{name}() takes random samples of shape {(n, channels, dims)}, or of a larger batch, "
            f"and the input's dtype; {samples.shape} and {samples.dtype.name} were given."
        )
    drawn = samples.detach()._numbers()[:n]
    drawn = drawn[..., ::-1] if dims == 2 else drawn  # of images, torch's first is the width's
    rows = flattened(lengths, [_taps(drawn[..., i], *setting) for i, setting in enumerate(every)])
    flat = batch.flatten(2)
    with no_grad():
        table = tensor(rows, backend=batch.backend)
        seen = flat.gather(2, table.flatten(2)).view(*rows.shape)
        indices = table.gather(3, seen.argmax(3, keepdim=True)).squeeze(3)
    results = [each.unflatten(2, size) for each in (flat.gather(2, indices), indices)]
    if input.ndim == dims + 1:
        results = [each.squeeze(0) for each in results]
    return tuple(results) if return_indices else results[0]


_, fractional_max_pool2d, fractional_max_pool3d = over_dimensions(fractional_max_pool)


def output_sizes(
    name: str, lengths: list[int], output_size: Sizes | None, output_ratio: Ratios | None
) -> tuple[int, ...]:
    """Return the sizes of an output, which are given themselves or as parts of the input's."""
    check_ratio(name, len(lengths), output_size, output_ratio)
    if output_ratio is None:
        return integers("output_size", output_size, len(lengths), 1)
    given = output_ratio if isinstance(output_ratio, tuple | list) else (output_ratio,)
    ratios = given * len(lengths) if len(given) == 1 else given
    size = tuple(int(length * ratio) for length, ratio in zip(lengths, ratios, strict=True))
    return integers("output_size", size, len(lengths), 1)


def check_ratio(name: str, dims: int, output_size: Any, output_ratio: Any) -> None:
    """Raise SettingError unless the size of outputs is given once, and a ratio is one."""
    if (output_size is None) == (output_ratio is None):
        raise SettingError(f"{name}() takes either an output_size or an output_ratio.")
    if output_ratio is not None:
        ratios = output_ratio if isinstance(output_ratio, tuple | list) else (output_ratio,)
        fits = len(ratios) in (1, dims) and all(0 < number("a ratio", r) < 1 for r in ratios)
        what = f"one number or {dims}, above 0 and below 1"
        check("output_ratio", output_ratio, fits, what)


def _taps(drawn: Array, length: int, window: int, outputs: int) -> Array:
    """Return which elements windows see along one dimension, shape (*drawn.shape, outputs, window).

    Computed in the type of the random numbers, as in torch.
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
    """What both share: their settings.

    Args:
        kernel_size: the sizes of the windows.
        output_size: the sizes of the output; or else
        output_ratio: these as parts of the input's, above 0 and below 1.
        return_indices: whether to return where the elements were, too.
        _random_samples: the random numbers to use; drawn at each call if None.
    """

    dims: ClassVar[int]
    kernel_size: Sizes
    output_size: Sizes | None = None
    output_ratio: Ratios | None = None
    return_indices: bool = False
    _random_samples: Tensor | None = None

    def _check(self) -> None:
        check_ratio(type(self).__name__, self.dims, self.output_size, self.output_ratio)
        self.kernel_size = integers("kernel_size", self.kernel_size, self.dims, 1)
        if self.output_size is not None:
            self.output_size = integers("output_size", self.output_size, self.dims, 1)

    def extra_repr(self) -> str:
        """Show the settings."""
        size = f"output_size={self.output_size}"
        if self.output_size is None:
            size = f"output_ratio={self.output_ratio}"
        return f"kernel_size={self.kernel_size}, {size}"


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows of images; see `mt_nn.functional.fractional_max_pool2d`."""

    dims = 2
    function = staticmethod(fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows of volumes; see `mt_nn.functional.fractional_max_pool3d`."""

    dims = 3
    function = staticmethod(fractional_max_pool3d)
