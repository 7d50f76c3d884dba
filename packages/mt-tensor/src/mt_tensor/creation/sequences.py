"""Numbers from nested sequences, in which arrays and tensors may stand, too."""

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
    """Return the elements of a number or of nested sequences, and their common type.

    Args:
        data: the sequences.
        dtype: the type they are to be converted to; None for the common one.

    Raises:
        ShapeError: the sequences are ragged.
        DTypeError: an element is no number, or does not fit the type.
    """
    leaves = _leaves(data)
    examples = {getattr(leaf, "dtype", leaf.__class__): leaf for leaf in leaves}  # of each type
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
            f"a tensor is made of numbers of at most 64 bits; {wrong!r} of type "
            f"{type(wrong).__name__} was given."
        )
    if dtype is not None and as_dtype(dtype) is uint64 and values.dtype.kind == "f":
        values = np.array(data, object)  # floats are NumPy's way to [1, 2**63]
    own = _common_type(examples, values)
    kind = own if dtype is None else as_dtype(dtype)
    if values.size and kind.kind == "integer":
        for extreme in (values.min(), values.max()):
            kind.checked(extreme)
    return values, own


_SEQUENCES = (list, tuple, range)


def _leaves(data: Any) -> list[Any]:
    """Return what nested sequences hold, if they are evenly nested."""
    level = [data]
    while level and all(isinstance(each, _SEQUENCES) for each in level):
        level = list(itertools.chain.from_iterable(level))
    return level


def _with_arrays(data: Any) -> Any:
    """Return the same nested sequences with arrays in the place of tensors."""
    if isinstance(data, Tensor):
        return data._numbers()
    return [_with_arrays(each) for each in data] if isinstance(data, list | tuple) else data


def _common_type(examples: Mapping[Any, Any], values: Array) -> DType:
    """Return the element type that torch gives to these numbers, arrays and tensors together.

    Args:
        examples: for each dtype, or type of a number, a value of it.
        values: all values, as NumPy has them.
    """
    types = [
        type_of_number(leaf) if isinstance(kind, type) else as_dtype(kind)
        for kind, leaf in examples.items()
        if not isinstance(kind, type) or issubclass(kind, Number)
    ]
    if not types:  # nothing at all, or something that only NumPy can read, such as a memoryview
        return as_dtype(values.dtype) if values.size else get_default_dtype()
    common = functools.reduce(promote_types, types)
    if common.kind == "integer" and values.dtype.kind == "f":  # which is NumPy's last resort
        raise DTypeError("the integers in the data do not fit into 64 bits with a sign.")
    return common
