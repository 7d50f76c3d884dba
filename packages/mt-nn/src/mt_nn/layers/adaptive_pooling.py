"""Pooling to outputs of a given size, whatever the input's; to a size of 1, it is global."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_nn.core.settings import integers
from mt_nn.core.windows import as_batch
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.dimensions import check_not_empty, over_dimensions
from mt_nn.layers.function import FunctionLayer
from mt_nn.layers.pooling import avg_pool, largest, max_pool
from mt_nn.layers.resampling import means_of_parts, part_taps
from mt_tensor import Tensor

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
    if all(extent % target == 0 for extent, target in changes):
        return avg_pool(dims, input, tuple(extent // target for extent, target in changes))
    for dim, (extent, target) in enumerate(changes, 2):
        if target != extent:
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
    if all(extent % target == 0 for extent, target in changes):
        parts = tuple(extent // target for extent, target in changes)
        return max_pool(dims, input, parts, return_indices=return_indices)
    values, indices = largest(batch, [part_taps(*change) for change in changes])
    if input.ndim == dims + 1:
        values, indices = values.squeeze(0), indices.squeeze(0)
    return (values, indices) if return_indices else values


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = over_dimensions(adaptive_avg_pool)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = over_dimensions(adaptive_max_pool)


def _changes(name: str, shape: tuple[int, ...], output_size: OutputSize) -> list[tuple[int, int]]:
    """Check the size of an output; return each size before and after."""
    extents = shape[2:]
    if 0 in extents:
        raise InputError(f"{name}() takes inputs with something in them; got shape {shape}.")
    dims = len(extents)
    given = tuple(output_size) if isinstance(output_size, tuple | list) else (output_size,) * dims
    if len(given) != dims:
        raise SettingError(f"output_size must be one extent or {dims}; got {output_size!r}.")
    every = zip(extents, given, strict=True)
    wanted = tuple(extent if target is None else target for extent, target in every)
    return list(zip(extents, integers("output_size", wanted, dims, 1), strict=True))


# --- Layers ---------------------------------------------------------------------------------------


class _AdaptiveAvgPool(FunctionLayer):
    """What the means share: the size of the output; None, in it or for it, for the input's."""

    shown = ("output_size",)
    output_size: OutputSize


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The mean of each of so many parts of signals; see `AdaptiveAvgPool2d`."""

    function = staticmethod(adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The mean of each of so many parts; see `mt_nn.functional.adaptive_avg_pool2d`."""

    function = staticmethod(adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The mean of each of so many parts of volumes; see `AdaptiveAvgPool2d`."""

    function = staticmethod(adaptive_avg_pool3d)


class _AdaptiveMaxPool(FunctionLayer):
    """What the largest elements share: the size of the output, and whether places are wanted."""

    shown = ("output_size",)
    output_size: OutputSize
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
