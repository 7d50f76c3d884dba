"""Causal masks, which are known to be causal without being read.

Kernels for attention have no need of a causal mask: to be told that there is one is enough. Yet
torch's transformers take the mask as a tensor. Whether a tensor is causal is seen in its elements
only, and to read these is to wait for the device, once for each layer. So the masks that are made
here are remembered for as long as they exist, and recognised while nobody has changed them.
"""

from __future__ import annotations

import functools
import math
import weakref
from typing import Any

from mt_tensor import Tensor, full, ones
from mt_tensor.extending import Backend, Device

_MADE: dict[int, weakref.ReferenceType[Tensor]] = {}
"""The masks that were made here and still exist, by their identity."""


def causal_mask(
    steps: int, dtype: Any = None, *, backend: Backend = None, device: Device = None
) -> Tensor:
    """Return what is added to scores, shape (steps, steps): minus infinity for later keys."""
    whole = full((steps, steps), -math.inf, dtype=dtype, backend=backend, device=device)
    mask: Tensor = whole.triu(1)
    name = id(mask)
    _MADE[name] = weakref.ref(mask, lambda _: _MADE.pop(name, None))
    return mask


def is_causal_mask(mask: Tensor | None) -> bool:
    """Return whether a mask was made by `causal_mask`, and is nothing but that since."""
    made = None if mask is None else _MADE.get(id(mask))
    if mask is None or made is None or made() is not mask:
        return False
    return not mask.requires_grad and mask._tensor.version == 0


@functools.lru_cache(8)
def remembered_mask(steps: int, backend: Any) -> Tensor:
    """Return a causal mask, the same for the same arguments; nobody may change it."""
    return causal_mask(steps, backend=backend)


@functools.lru_cache(8)
def later_keys(queries: int, keys: int, backend: Any) -> Tensor:
    """Return bools, shape (queries, keys): True where the key is later than the query.

    It is the same tensor for the same arguments, and nobody may change it.
    """
    later: Tensor = ones(queries, keys, dtype="bool", backend=backend).triu(1)
    return later
