"""Joining sequences of different lengths into a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mt_nn.core.collate import alike, default_collate
from mt_nn.core.extensions import extends
from mt_nn.errors import InputError
from mt_tensor import Tensor, tensor


def pad_collate(
    batch: Sequence[tuple[Any, Any]], padding_value: int = 0
) -> tuple[Tensor, Tensor, Any]:
    """Join sequences of different lengths, each with a target, into a batch.

        >>> tokens, lengths, targets = pad_collate([([5, 6], 1), ([7], 0)])
        >>> tokens.tolist(), lengths.tolist(), targets.tolist()
        ([[5, 6], [7, 0]], [2, 1], [1, 0])

    Args:
        batch: pairs of a sequence of integers, as a list, an array or a tensor, and a target.
        padding_value: what fills a shorter sequence up.

    Returns:
        The sequences, int64 of shape (batch, length of the longest); their lengths, int64 of shape
        (batch,); and what `default_collate` makes of the targets.

    Raises:
        SettingError: there is no sample.
        InputError: a sample is no pair of a sequence of integers and a target.
    """
    try:
        rows = [np.asarray(sequence) for sequence, _ in batch]
    except (TypeError, ValueError):
        raise InputError("pad_collate() joins pairs of a sequence and a target.") from None
    for row in rows:
        if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
            raise InputError(
                "pad_collate() joins sequences of whole numbers, of one dimension; one of "
                f"{row.ndim} dimension(s), with elements of type {row.dtype}, was given."
            )
    targets = default_collate([target for _, target in batch])
    lengths = np.array([len(row) for row in rows], np.int64)
    padded = np.full((len(rows), lengths.max()), padding_value, np.int64)
    for row, values in zip(padded, rows, strict=True):
        row[: len(values)] = values
    return tensor(padded), tensor(lengths), targets


@extends("samples without batches")
def default_convert(data: Any) -> Any:
    """Convert the arrays of a sample to tensors, as a loader without batches does."""
    if isinstance(data, np.ndarray) and data.dtype.kind in "biuf":
        return tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple | list):
        return alike(data, [default_convert(value) for value in data])
    return data
