"""Pad by reflection, replication or wrapping: slices are looked up where each of them comes from.

The composition joins slices dimension by dimension, and its gradient adds each of them up.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from mt_tensor import Tensor, index_select, tensor
from mt_tensor.extending import Array

NUMPYS = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""What NumPy calls the modes."""


def pad(input: Tensor, amounts: Sequence[int], mode: str) -> Tensor:
    """Surround a tensor with its own elements.

    Args:
        input: any tensor.
        amounts: how much is added before and after each of the last dimensions, the last one first;
            negative numbers crop.
        mode: one of `NUMPYS`.
    """
    for i in range(0, len(amounts), 2):
        before, after = amounts[i : i + 2]
        if before or after:
            dim = input.ndim - 1 - i // 2
            places = _places(input.shape[dim], before, after, mode)
            input = index_select(input, dim, tensor(places, backend=input.backend))
    return input


@functools.lru_cache(256)
def _places(length: int, before: int, after: int, mode: str) -> Array:
    """Return which element each of a padded dimension comes from."""
    amounts = max(before, 0), max(after, 0)
    places: Array = np.pad(np.arange(length), amounts, NUMPYS[mode])  # type: ignore[call-overload]
    return places[max(-before, 0) : len(places) - max(-after, 0)]
