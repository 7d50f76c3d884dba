"""Places in what is sorted already, and which elements occur elsewhere.

Both are found on the host, unless a backend has a kernel.
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
    """Return where values would have to be inserted for a sequence to remain in order.

    Args:
        sorted_sequence: rows along the last dimension, each in ascending order.
        input: the values: a row for each row of the sequences; of any shape, or a number, where
            there is a single sequence.
        out_int32: whether the result is int32; else it is int64.
        right: whether a value goes behind those that equal it; else it goes before them.
        side: the same in words, "left" or "right".
        sorter: the int64 indices that bring the sequence into order, if it is not.

    Returns:
        For each value how many elements come before it. A nan comes behind all numbers.

    Raises:
        ShapeError: the sequences have no dimensions, or their rows are not those of the values.
        DTypeError: the elements are bool, or `sorter` is not int64.
        IndexingError: an index of `sorter` is out of range.
        DomainError: `side` is neither, or contradicts `right`.
    """
    check_choice("side", side, (None, "right") if right else (None, "left", "right"))
    sequence = sorted_sequence.detach()
    if sorter is not None:
        sequence = _in_order(sequence, sorter)
    return _found("searchsorted", sequence, input, right or side == "right", out_int32)


@validate_call
def bucketize(
    input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return the number of the bucket that each value lies in: how many boundaries are below it.

    Args:
        input: the values: a tensor of any shape, or a number.
        boundaries: 1-D, in ascending order; a bucket includes its upper one.
        out_int32: whether the result is int32; else it is int64.
        right: whether a bucket includes its lower boundary instead.

    Raises:
        ShapeError: `boundaries` is not 1-D.
        DTypeError: the elements are bool.
    """
    if boundaries.ndim != 1:
        raise ShapeError(f"bucketize() takes 1-D boundaries; shape {boundaries.shape} was given.")
    return _found("bucketize", boundaries.detach(), input, right, out_int32)


@validate_call
def isin(
    elements: Tensor | Number,
    test_elements: Tensor | Number,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Return which elements occur among others, as bool; nan equals nothing.

    Args:
        elements: a tensor of any shape, or a number.
        test_elements: what they are compared with: a tensor, or a number if `elements` is none.
        assume_unique: whether no element is given twice, which makes it faster.
        invert: whether to return which do not occur instead.

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
    return _occurring(first, second, assume_unique, invert)


@fused("isin")
@as_one_call
def _occurring(elements: Tensor, others: Tensor, assume_unique: bool, invert: bool) -> Tensor:
    """Return which elements occur among others; the arguments are tensors, and checked."""
    found = np.isin(elements._numbers(), others._numbers(), assume_unique, invert)
    return elements._uploaded(np.asarray(found))


def _tensor(model: Tensor, values: Tensor | Number) -> Tensor:
    """Return a tensor, to which nothing is recorded, or a number as one."""
    return values.detach() if isinstance(values, Tensor) else model._uploaded(np.asarray(values))


def _in_order(sequence: Tensor, sorter: Tensor) -> Tensor:
    """Return sequences in the order that `sorter` says."""
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


def _found(name: str, sequence: Tensor, values: Any, right: bool, out_int32: bool) -> Tensor:
    """Return where values stand in the rows of sequences."""
    values = plain(values)
    if not isinstance(values, Number):
        require_tensors(name, values)
    common_backend(sequence, values)
    check_not_bool(name, result_type(sequence, values))
    wanted = _tensor(sequence, values)
    if sequence.ndim == 0 or (sequence.ndim > 1 and sequence.shape[:-1] != wanted.shape[:-1]):
        raise ShapeError(
            f"{name}() takes one sequence, or one for each row of the values; shapes "
            f"{sequence.shape} and {wanted.shape} were given."
        )
    places = _places(sequence, wanted, right)
    return places.to(int32) if out_int32 else places


@fused("searchsorted")
@as_one_call
def _places(sequence: Tensor, values: Tensor, right: bool) -> Tensor:
    """Return how many elements of its row come before each value; the arguments are checked."""
    side: Literal["left", "right"] = "right" if right else "left"
    rows, wanted = sequence._numbers(), values._numbers()
    places = np.empty(wanted.shape, np.int64)
    if rows.ndim == 1:
        places[...] = np.searchsorted(rows, wanted, side)
    else:
        for row in np.ndindex(rows.shape[:-1]):
            places[row] = np.searchsorted(rows[row], wanted[row], side)
    return sequence._uploaded(places)
