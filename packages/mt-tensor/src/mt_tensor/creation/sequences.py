"""Convert nested sequences of numbers, arrays and tensors to arrays."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import (
    Array,
    DType,
    Number,
    as_dtype,
    get_default_dtype,
    promote_types,
    type_of_number,
    uint64,
)
from mt_tensor.core.errors import DTypeError, ShapeError
from mt_tensor.core.extensions import extends
from mt_tensor.core.tensor import Tensor


@extends("nested sequences")
def of_sequences(data: Any, dtype: Any) -> tuple[Array, DType]:
    """Return the elements of a number or of nested sequences as an array, and their promoted dtype.

    Args:
        data: the sequences.
        dtype: the dtype to convert to; None for the promoted one.

    Raises:
        ShapeError: the sequences are ragged.
        DTypeError: an element is not a number, or is out of the range of the dtype.
    """
    leaves = _leaves(data)
    kinds = set(map(type, leaves))
    if kinds <= _NUMBERS:
        examples: dict[Any, Any] = {each: each() for each in kinds}
    else:
        examples = {getattr(leaf, "dtype", leaf.__class__): leaf for leaf in leaves}
        if any(isinstance(leaf, Tensor) for leaf in examples.values()):
            data = _with_arrays(data)
    try:
        values = np.array(data)
    except ValueError as error:
        raise ShapeError(
            f"nested sequences must have equal lengths at each level ({error})."
        ) from None
    if values.dtype.kind not in "biuf":
        others = (leaf for leaf in leaves if not isinstance(leaf, Tensor))
        wrong = next((leaf for leaf in others if np.asarray(leaf).dtype.kind not in "biuf"), data)
        raise DTypeError(
            f"the elements of a tensor must be numbers of at most 64 bits; {wrong!r} of type "
            f"{type(wrong).__name__} was given."
        )
    if dtype is not None and as_dtype(dtype) is uint64 and values.dtype.kind == "f":
        values = np.array(data, object)  # NumPy would convert [1, 2**63] to floats
    found = _common_type(examples, values)
    kind = found if dtype is None else as_dtype(dtype)
    if values.size and kind.kind == "integer" and values.dtype != kind.numpy:
        for extreme in (values.min(), values.max()):
            kind.checked(extreme)
    return values, found


_SEQUENCES = (list, tuple, range)
_NUMBERS = {bool, int, float}


def _leaves(data: Any) -> list[Any]:
    """Return the innermost items of evenly nested sequences."""
    level = [data]
    while level and all(isinstance(each, _SEQUENCES) for each in level):
        level = list(itertools.chain.from_iterable(level))
    return level


def _with_arrays(data: Any) -> Any:
    """Replace tensors in nested sequences by arrays."""
    if isinstance(data, Tensor):
        return data._numbers()
    return [_with_arrays(each) for each in data] if isinstance(data, list | tuple) else data


def _common_type(examples: Mapping[Any, Any], values: Array) -> DType:
    """Return the promoted dtype of numbers, arrays and tensors, as in torch.

    Args:
        examples: one value for each dtype or type of a number.
        values: all values as an array.
    """
    types = [
        type_of_number(leaf) if isinstance(kind, type) else as_dtype(kind)
        for kind, leaf in examples.items()
        if not isinstance(kind, type) or issubclass(kind, Number)
    ]
    if not types:  # empty, or an object that only NumPy converts, such as a memoryview
        return as_dtype(values.dtype) if values.size else get_default_dtype()
    common = functools.reduce(promote_types, types)
    if common.kind == "integer" and values.dtype.kind == "f":  # NumPy found no integer dtype
        raise DTypeError("the integers in the data are out of the range of int64.")
    return common
