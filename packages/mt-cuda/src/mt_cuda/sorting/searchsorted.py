"""Places in what is sorted already, and which elements occur elsewhere: a search by each thread."""

from __future__ import annotations

from mt_cuda.sorting.searching import places
from mt_cuda.tensors import elements_of, ops_of, tensor_of
from mt_tensor import Tensor, elementwise, sort
from mt_tensor.extending import FUSED


def searchsorted(rows: Tensor, values: Tensor, right: bool) -> Tensor:
    """Return how many elements of its row come before each value; the host compares two types."""
    if rows.dtype is not values.dtype:
        return FUSED["searchsorted"](rows, values, right)
    found = places(ops_of(rows), elements_of(rows), elements_of(values), right)
    return tensor_of(found, values)


def isin(elements: Tensor, others: Tensor, assume_unique: bool, invert: bool) -> Tensor:
    """Return which elements occur among others, which are sorted; the host compares two types."""
    if elements.dtype is not others.dtype or not others.numel():
        return FUSED["isin"](elements, others, assume_unique, invert)
    ordered = sort(others.reshape(-1), 0).values
    place = searchsorted(ordered, elements, False)
    there = ordered[elementwise("minimum", place, others.numel() - 1)]
    return elementwise("ne" if invert else "eq", there, elements)


SEARCHSORTED, ISIN = searchsorted, isin
