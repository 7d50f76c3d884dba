"""Unique elements and their counts, and histograms; not differentiable.

Unique elements of a tensor on a device are found there, with one synchronization for their number.
Slices, and tensors in host memory, are processed by NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_tensor.backends.devices import HOST
from mt_tensor.checks import existing_dim, validate_call
from mt_tensor.core.arguments import as_integer, check_addressable, check_flags, check_floating
from mt_tensor.core.dtypes import Number, as_number, bool_, float32, float64, int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.strides import Shape, normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, DTypeError, ShapeError
from mt_tensor.indexing.scattering import ScatterAdd
from mt_tensor.indexing.slices import lowest_and_highest
from mt_tensor.movement.joining import cat
from mt_tensor.order.sorting import sort


def _results(input: Tensor, found: Sequence[Any], return_inverse: bool, return_counts: bool) -> Any:
    """Return the values, or a tuple of them with the requested inverse and counts."""
    values, inverse, counts = found
    tensors = [input._uploaded(values, input.dtype)]
    if return_inverse:
        tensors.append(input._uploaded(inverse))
    if return_counts:
        tensors.append(input._uploaded(counts))
    return tuple(tensors) if len(tensors) > 1 else tensors[0]


def _is_on_device(x: Tensor) -> bool:
    """Return whether a tensor is not empty and not in host memory."""
    return bool(x.numel()) and x.backend.device != HOST


def _distinct(
    row: Tensor, shape: Shape, order: Tensor | None, return_inverse: bool, return_counts: bool
) -> Any:
    """Return the elements of a 1-D tensor that differ from their predecessor; see `_results`.

    Args:
        row: a 1-D tensor of at least one element.
        shape: the shape of the inverse.
        order: the index of each element in the input; None if they are in the input's order.
        return_inverse: whether to return the inverse.
        return_counts: whether to return the counts.
    """
    begins = cat([row._full((1,), True, bool_), elementwise("ne", row[1:], row[:-1])])
    (starts,) = begins.nonzero(as_tuple=True)
    found = [row.index_select(0, starts)]
    if return_inverse:
        numbers = begins.cumsum(0) - 1
        inverse = numbers if order is None else numbers.scatter(0, order, numbers)
        found.append(inverse.view(*shape))
    if return_counts:
        found.append(cat([starts[1:], starts._full((1,), len(row))]) - starts)
    return tuple(found) if len(found) > 1 else found[0]


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the unique elements in ascending order; nans are not equal to each other.

    Args:
        input: a tensor.
        sorted: accepted for compatibility with torch; the result is always sorted.
        return_inverse: whether to also return the index in the result of each element of `input`.
        return_counts: whether to also return the number of occurrences of each.
        dim: the dimension to compare slices along; None to compare elements.

    Returns:
        A 1-D tensor, or the slices along `dim`; if requested, in a tuple with the int64 inverse, of
        the shape of `input` or the size of `dim`, and the int64 counts.

    Raises:
        IndexingError: `dim` is out of range.
    """
    require_tensors("unique", input)
    check_flags(sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    if dim is None and _is_on_device(input):
        row, order = sort(input.detach().reshape(-1), 0)
        return _distinct(row, input.shape, order, return_inverse, return_counts)
    array = input._numbers()
    axis = None if dim is None else existing_dim("unique", dim, input.shape)
    values, inverse, counts = np.unique(
        array, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    inverse = inverse.reshape(input.shape if axis is None else -1)
    return _results(input, (values, inverse, counts), return_inverse, return_counts)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the elements, or slices along `dim`, that differ from their predecessor.

    Arguments and results as for `unique`, but in the order of `input`.

    Raises:
        IndexingError: `dim` is out of range.
    """
    require_tensors("unique_consecutive", input)
    check_flags(return_inverse=return_inverse, return_counts=return_counts)
    if dim is None and _is_on_device(input):
        row = input.detach().reshape(-1)
        return _distinct(row, input.shape, None, return_inverse, return_counts)
    array = input._numbers()
    axis = 0 if dim is None else normalize_dim(dim, input.ndim)
    slices = array.reshape(-1) if dim is None else np.moveaxis(np.atleast_1d(array), axis, 0)
    other = (slices[1:] != slices[:-1]).any(tuple(range(1, slices.ndim)))
    begins = np.flatnonzero(np.concatenate([np.ones(min(len(slices), 1), bool), other]))
    values = np.moveaxis(slices[begins], 0, axis)
    counts = np.diff(np.append(begins, len(slices)))
    inverse = np.repeat(np.arange(len(begins)), counts)
    if dim is None:
        inverse = inverse.reshape(input.shape)
    return _results(input, (values, inverse, counts), return_inverse, return_counts)


@validate_call
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each non-negative integer occurs.

    Args:
        input: 1-D, non-negative integers.
        weights: the weight of each occurrence, in the shape of `input`; 1 by default.
        minlength: the minimum size of the result.

    Returns:
        int64; with weights, float32 if they are float32, else float64.

    Raises:
        ShapeError: `input` is not 1-D, or `weights` has another shape.
        DTypeError: `input` is not an integer tensor.
        DomainError: an element or `minlength` is negative.
        TypeError: `minlength` is not an integer.
    """
    require_tensors("bincount", input, *([] if weights is None else [weights]))
    common_backend(input, weights)
    if input.ndim != 1 or (weights is not None and weights.shape != input.shape):
        shapes = (
            f"{input.shape} was" if weights is None else f"{input.shape} and {weights.shape} were"
        )
        raise ShapeError(f"bincount() takes 1-D tensors of equal length; {shapes} given.")
    if input.dtype.kind != "integer":
        raise DTypeError(f"bincount() takes integers; {input.dtype.name} was given.")
    minlength = as_integer("bincount(): minlength", minlength, minimum=0)
    low, high = lowest_and_highest(input)
    if low < 0:
        raise DomainError(f"bincount() takes non-negative integers; {low} was given.")
    if weights is None:
        counted = input._full(input.shape, 1, int64)
    else:
        counted = weights.to(weights.dtype if weights.dtype is float32 else float64)
    start = counted._full((max(high + 1, minlength),), 0)
    return ScatterAdd.apply(start, 0, input.to(int64), counted)


@validate_call
def histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """Return a histogram: the number of elements in each bin, in the dtype of `input`.

    Args:
        input: a floating-point tensor; nan and elements outside the range are ignored.
        bins: the number of bins, which have equal widths.
        min: the start of the range.
        max: the end of the range, inclusive. If it equals `min`, the range is that of the elements;
            if these are all equal too, it is extended by 1 on both sides.

    Raises:
        DTypeError: `input` is not floating-point.
        ShapeError: there would be too many bins.
        DomainError: `bins` is not positive, the range is not finite, or `min` is greater than
            `max`.
        TypeError: `bins` is not an integer, or a bound is not a number.
    """
    check_floating("histc", input)
    bins = as_integer("histc(): bins", bins, minimum=1)
    check_addressable((bins,))
    values = input._numbers().reshape(-1).astype(input.dtype.computed.numpy, copy=False)
    low, high = float(as_number("histc(): min", min)), float(as_number("histc(): max", max))
    if low == high and values.size:
        low, high = float(values.min()), float(values.max())
    if low == high:
        margin = float(np.fmax(1.0, abs(np.spacing(values.dtype.type(low)))))
        low, high = low - margin, high + margin
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise DomainError(
            f"histc() needs a finite range with min <= max; the range is from {low} to {high}."
        )
    inside = values[(values >= low) & (values <= high)]
    indices = ((inside - low) / (high - low) * bins).astype(np.int64)
    counts = np.bincount(np.minimum(indices, bins - 1), minlength=bins)
    return input._uploaded(counts, input.dtype)
