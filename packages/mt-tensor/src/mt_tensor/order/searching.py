"""Binary search in sorted sequences, and membership tests.

Both run on the host unless a backend has a kernel.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from mt_tensor.checks import check_choice, validate_call
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.dtypes import Number, int32, int64, plain, result_type
from mt_tensor.core.named import fused
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, ShapeError
from mt_tensor.recording.one_call import as_one_call


@validate_call
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | Number,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return the indices at which values can be inserted so that a sequence remains sorted.

    Args:
        sorted_sequence: sequences along the last dimension, each in ascending order.
        input: the values, with the same leading dimensions as the sequences; or of any shape, or a
            number, for a 1-D sequence.
        out_int32: whether the result is int32 instead of int64.
        right: whether to insert after equal elements instead of before them.
        side: "left" or "right", another way to give `right`.
        sorter: int64 indices that sort the sequence, if it is not sorted.

    Returns:
        The number of elements before each value. A nan is greater than all numbers.

    Raises:
        ShapeError: the sequence is 0-D, the leading dimensions differ, or `sorter` does not have
            the shape of the sequences.
        DTypeError: the elements are bool, or `sorter` is not int64.
        IndexingError: an index of `sorter` is out of range.
        DomainError: `side` has another value, or contradicts `right`.
    """
    check_choice(
        "searchsorted", "side", side, (None, "right") if right else (None, "left", "right")
    )
    sequence = sorted_sequence.detach()
    if sorter is not None:
        sequence = _permuted(sequence, sorter)
    return _search("searchsorted", sequence, input, right or side == "right", out_int32)


@validate_call
def bucketize(
    input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return the index of the bucket of each value: the number of boundaries below it.

    Args:
        input: the values: a tensor of any shape, or a number.
        boundaries: 1-D, in ascending order; a bucket includes its upper boundary.
        out_int32: whether the result is int32 instead of int64.
        right: whether a bucket includes its lower boundary instead.

    Raises:
        ShapeError: `boundaries` is not 1-D.
        DTypeError: the elements are bool.
    """
    if boundaries.ndim != 1:
        raise ShapeError(f"bucketize() takes 1-D boundaries; shape {boundaries.shape} was given.")
    return _search("bucketize", boundaries.detach(), input, right, out_int32)


@validate_call
def isin(
    elements: Tensor | Number,
    test_elements: Tensor | Number,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Return as bool which elements occur in another tensor; nan equals nothing.

    Args:
        elements: a tensor of any shape, or a number.
        test_elements: a tensor, or a number if `elements` is a tensor.
        assume_unique: whether both have no repeated elements, which is faster.
        invert: whether to return which elements do not occur instead.

    Raises:
        DTypeError: the elements are bool.
        TypeError: both are numbers.
    """
    elements, test_elements = plain(elements), plain(test_elements)
    model: Any = test_elements if isinstance(elements, Number) else elements
    tensors = [model, *([] if isinstance(test_elements, Number) else [test_elements])]
    require_tensors("isin", *tensors)
    common_backend(*tensors)
    for tensor in tensors:
        check_not_bool("isin", tensor)
    first, second = _tensor(model, elements), _tensor(model, test_elements)
    return _isin(first, second, assume_unique, invert)


@fused("isin")
@as_one_call
def _isin(elements: Tensor, others: Tensor, assume_unique: bool, invert: bool) -> Tensor:
    """Compute `isin` for checked tensors."""
    found = np.isin(elements._numbers(), others._numbers(), assume_unique, invert)
    return elements._uploaded(np.asarray(found))


def _tensor(model: Tensor, values: Tensor | Number) -> Tensor:
    """Return a tensor detached, or a number as a tensor on the backend of `model`."""
    return values.detach() if isinstance(values, Tensor) else model._uploaded(np.asarray(values))


def _permuted(sequence: Tensor, sorter: Tensor) -> Tensor:
    """Return sequences in the order given by `sorter`."""
    require_tensors("searchsorted", sorter)
    common_backend(sequence, sorter)
    if sorter.dtype is not int64:
        raise DTypeError(f"searchsorted() takes a sorter of int64; {sorter.dtype.name} was given.")
    if sorter.shape != sequence.shape:
        raise ShapeError(
            f"searchsorted() takes a sorter of the shape of the sequences, {sequence.shape}; "
            f"{sorter.shape} was given."
        )
    return sequence.gather(-1, sorter)


def _search(name: str, sequence: Tensor, values: Any, right: bool, out_int32: bool) -> Tensor:
    """Check values, and search for them in the sequences."""
    values = plain(values)
    if not isinstance(values, Number):
        require_tensors(name, values)
    common_backend(sequence, values)
    check_not_bool(name, result_type(sequence, values))
    queries = _tensor(sequence, values)
    if sequence.ndim == 0 or (sequence.ndim > 1 and sequence.shape[:-1] != queries.shape[:-1]):
        raise ShapeError(
            f"{name}() takes a single sequence, or one for each row of the values; shapes "
            f"{sequence.shape} and {queries.shape} were given."
        )
    index = _insertion_points(sequence, queries, right)
    return index.to(int32) if out_int32 else index


@fused("searchsorted")
@as_one_call
def _insertion_points(sequence: Tensor, values: Tensor, right: bool) -> Tensor:
    """Compute `searchsorted` for checked tensors."""
    side: Literal["left", "right"] = "right" if right else "left"
    rows, queries = sequence._numbers(), values._numbers()
    index = np.empty(queries.shape, np.int64)
    if rows.ndim == 1:
        index[...] = np.searchsorted(rows, queries, side)
    else:
        for row in np.ndindex(rows.shape[:-1]):
            index[row] = np.searchsorted(rows[row], queries[row], side)
    return sequence._uploaded(index)
