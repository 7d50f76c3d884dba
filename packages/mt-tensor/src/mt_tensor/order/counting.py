"""Which elements there are, and how many of each, without gradients.

Single elements are compared where they are, with one wait for how many differ. Whole slices are
compared on the host, and so is all that is in its memory anyway, where NumPy takes one pass.
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
    """Return values, and what else is wanted of inverse and counts; several tensors in a tuple."""
    values, inverse, counts = found
    tensors = [input._uploaded(values, input.dtype)]
    if return_inverse:
        tensors.append(input._uploaded(inverse))
    if return_counts:
        tensors.append(input._uploaded(counts))
    return tuple(tensors) if len(tensors) > 1 else tensors[0]


def _is_elsewhere(x: Tensor) -> bool:
    """Whether there are elements, and they are not in the memory of the host."""
    return bool(x.numel()) and x.backend.device != HOST


def _different(
    row: Tensor, shape: Shape, order: Tensor | None, return_inverse: bool, return_counts: bool
) -> Any:
    """Return the elements of a row that differ from the one before, and what else is asked for.

    Args:
        row: at least one element.
        shape: that of the inverse.
        order: where the elements of the row come from; None if from where they are.
        return_inverse: whether the inverse is asked for.
        return_counts: whether the counts are.
    """
    begins = cat([row._full((1,), True, bool_), elementwise("ne", row[1:], row[:-1])])
    (places,) = begins.nonzero(as_tuple=True)
    found = [row.index_select(0, places)]
    if return_inverse:
        numbers = begins.cumsum(0) - 1
        inverse = numbers if order is None else numbers.scatter(0, order, numbers)
        found.append(inverse.view(*shape))
    if return_counts:
        found.append(cat([places[1:], places._full((1,), len(row))]) - places)
    return tuple(found) if len(found) > 1 else found[0]


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the different elements in order, each once; every nan is one of its own.

    Args:
        input: a tensor.
        sorted: whether they must be in order; here they always are.
        return_inverse: whether to return where in the result each element of `input` is, too.
        return_counts: whether to return how often each occurs, too.
        dim: a dimension, to compare whole slices along it; None to compare elements.

    Returns:
        A 1-D tensor, or slices along `dim`; with the int64 inverse, of the shape of `input` or as
        long as `dim`, and the int64 counts in a tuple, if asked for.

    Raises:
        IndexingError: there is no such dimension.
    """
    require_tensors("unique", input)
    check_flags(sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    if dim is None and _is_elsewhere(input):
        row, order = sort(input.detach().reshape(-1), 0)
        return _different(row, input.shape, order, return_inverse, return_counts)
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
    """Return elements, or slices along `dim`, without those that equal the one before them.

    Arguments and results are those of `unique`, except that the order stays.

    Raises:
        IndexingError: there is no such dimension.
    """
    require_tensors("unique_consecutive", input)
    check_flags(return_inverse=return_inverse, return_counts=return_counts)
    if dim is None and _is_elsewhere(input):
        row = input.detach().reshape(-1)
        return _different(row, input.shape, None, return_inverse, return_counts)
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
    """Return how often each of the numbers 0, 1, 2, ... occurs.

    Args:
        input: 1-D, integers that are not negative.
        weights: what each occurrence counts, of the shape of `input`; 1 if not given.
        minlength: how many numbers are counted at least.

    Returns:
        int64; with weights float64, or float32 if that is their type.

    Raises:
        ShapeError: `input` is not 1-D, or `weights` has another shape.
        DTypeError: `input` holds no integers.
        DomainError: a number, or `minlength`, is negative.
        TypeError: `minlength` is no integer.
    """
    require_tensors("bincount", input, *([] if weights is None else [weights]))
    common_backend(input, weights)
    if input.ndim != 1 or (weights is not None and weights.shape != input.shape):
        given = input.shape if weights is None else f"{input.shape} and {weights.shape}"
        raise ShapeError(f"bincount() takes 1-D tensors of one length; got {given}.")
    if input.dtype.kind != "integer":
        raise DTypeError(f"bincount() counts integers; {input.dtype.name} was given.")
    minlength = as_integer("minlength", minlength, least=0)
    low, high = lowest_and_highest(input)
    if low < 0:
        raise DomainError(f"bincount() counts numbers from 0 on; {low} was given.")
    if weights is None:
        counted = input._full(input.shape, 1, int64)
    else:
        counted = weights.to(weights.dtype if weights.dtype is float32 else float64)
    start = counted._full((max(high + 1, minlength),), 0)
    return ScatterAdd.apply(start, 0, input.to(int64), counted)


@validate_call
def histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """Return how many elements lie in each of equal parts of a range, as numbers of their dtype.

    Args:
        input: floating-point numbers; nan and what lies outside of the range do not count.
        bins: into how many parts the range is divided.
        min: where it begins.
        max: where it ends, itself included. If both are equal, the range is that of the elements;
            and if these are equal, too, it reaches from one below them to one above.

    Raises:
        DTypeError: the elements are no floating-point numbers.
        ShapeError: there would be too many parts.
        DomainError: `bins` is not positive, or the range is not finite or runs backwards.
        TypeError: `bins` is no integer, or an end of the range no number.
    """
    check_floating("histc", input)
    bins = as_integer("bins", bins, least=1)
    check_addressable((bins,))
    values = input._numbers().reshape(-1).astype(input.dtype.computed.numpy, copy=False)
    low, high = float(as_number("min", min)), float(as_number("max", max))
    if low == high and values.size:
        low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise DomainError(
            f"histc() takes a finite range from min to max; {low} and {high} were given."
        )
    inside = values[(values >= low) & (values <= high)]
    places = ((inside - low) / (high - low) * bins).astype(np.int64)
    counts = np.bincount(np.minimum(places, bins - 1), minlength=bins)
    return input._uploaded(counts, input.dtype)
