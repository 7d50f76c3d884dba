"""Join samples into batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mt_nn.core.extensions import extends
from mt_nn.errors import InputError, SettingError, SettingTypeError
from mt_tensor import Tensor, float64, stack, tensor
from mt_tensor.errors import TensorError


@extends("samples of a batch")
def default_collate(batch: Sequence[Any]) -> Any:
    """Join samples into a batch: the default `collate_fn` of a loader.

    Tensors and arrays of equal shape are stacked along a new first dimension. Numbers become a
    tensor of dtype int64, bool or float64, as in torch; NumPy scalars keep their dtype. Strings and
    bytes become a list. Tuples, named tuples, lists and dictionaries are joined member by member;
    a tuple remains a tuple (torch returns a list).

    Args:
        batch: one or more samples with the same structure.

    Raises:
        SettingError: there is no sample, or a sample has a type that cannot be joined.
        InputError: the samples differ in type, shape, length or keys.
    """
    if not batch:
        raise SettingError("default_collate() takes at least one sample; none was given.")
    first = batch[0]
    if isinstance(first, Tensor | np.ndarray | np.generic):
        return _stacked(batch)
    if isinstance(first, bool | int | float):
        return _numbers(batch)
    if isinstance(first, str | bytes):
        return list(batch)
    if isinstance(first, Mapping):
        return _joined_mappings(batch)
    if isinstance(first, tuple | list):
        return _joined_sequences(batch)
    raise SettingTypeError(
        f"samples of type {type(first).__name__} cannot be joined into a batch: pass collate_fn."
    )


def _stacked(batch: Sequence[Any]) -> Tensor:
    shapes = list(dict.fromkeys(np.shape(each) for each in batch))
    if len(shapes) > 1 or not all(isinstance(each, type(batch[0])) for each in batch):
        kinds = sorted({type(each).__name__ for each in batch})
        raise InputError(
            f"samples of {', '.join(kinds)} with shapes {', '.join(map(str, shapes))} cannot be "
            "stacked: make their types and shapes equal, or pass collate_fn."
        )
    if isinstance(batch[0], Tensor):
        return stack(list(batch))
    try:
        return tensor(np.stack(batch))
    except (TensorError, TypeError) as error:
        raise SettingError(f"samples cannot be joined into a batch ({error}).") from error


def _numbers(batch: Sequence[Any]) -> Tensor:
    if not all(isinstance(each, bool | int | float) for each in batch):
        raise InputError("some samples are numbers, others are not: pass collate_fn.")
    if any(isinstance(each, float) for each in batch):
        return tensor(list(batch), dtype=float64)
    return tensor(list(batch))


def _joined_mappings(batch: Sequence[Any]) -> dict[Any, Any]:
    for each in batch:
        if not isinstance(each, Mapping) or each.keys() != batch[0].keys():
            other = list(each) if isinstance(each, Mapping) else f"type {type(each).__name__}"
            raise InputError(
                f"the first sample is a dictionary with keys {list(batch[0])}, another one has "
                f"{other}: make the keys equal, or pass collate_fn."
            )
    return {key: default_collate([each[key] for each in batch]) for key in batch[0]}


def _joined_sequences(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if not all(isinstance(each, tuple | list) and len(each) == len(first) for each in batch):
        raise InputError(
            f"the first sample has {len(first)} member(s), another does not: make their lengths "
            "equal, or pass collate_fn."
        )
    return _like(first, [default_collate(members) for members in zip(*batch, strict=True)])


def _like(sequence: Any, members: list[Any]) -> Any:
    """Convert members to the type of a sequence: a list, a tuple or a named tuple."""
    if hasattr(sequence, "_fields"):
        return type(sequence)(*members)
    return tuple(members) if isinstance(sequence, tuple) else members


@extends("a sample")
def default_convert(data: Any) -> Any:
    """Convert the arrays in a sample to tensors: the default of a loader without batches.

    Args:
        data: a sample; tuples, named tuples, lists and dictionaries are converted member by member.
    """
    if isinstance(data, np.ndarray) and data.dtype.kind in "biuf":
        return tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple | list):
        return _like(data, [default_convert(value) for value in data])
    return data
