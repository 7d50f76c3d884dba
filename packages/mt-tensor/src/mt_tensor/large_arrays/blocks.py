"""Formulas over large arrays, a block of elements at a time.

NumPy runs each step of a formula over whole arrays. Of large ones every step would read from memory
what the step before has written there. A block stays in the processor's cache until the formula is
done with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import Array
from mt_tensor.core.numpy_functions import SPECIAL_CASES
from mt_tensor.core.strides import Shape, size_of

BLOCK = 32768
"""How many elements go through all steps at once. They and what is computed of them fit the second
cache; with fewer, the calls would take longer than the arithmetic."""


def in_blocks(function: Callable[..., Any], *arrays: Array) -> Any:
    """Return what a function computes, element by element, of arrays: one array or several.

    Args:
        function: what is called with a block of each array; each result broadcasts to its shape.
        *arrays: broadcast to one shape. Those of shape () are handed over as they are.
    """
    shape = np.broadcast_shapes(*[array.shape for array in arrays])
    if all(array.flags.c_contiguous and array.shape in (shape, ()) for array in arrays):
        space: Shape = (size_of(shape),)
        sources = [array.reshape(space) if array.ndim else array for array in arrays]
    else:
        space = shape
        sources = [np.broadcast_to(array, shape) if array.ndim else array for array in arrays]
    made: list[Array] = []
    found: Any = ()
    for place in blocks(space):
        found = function(*[source[place] if source.ndim else source for source in sources])
        results = found if found.__class__ is tuple else (found,)
        if not made:
            made = [np.empty(space, result.dtype) for result in results]
        for target, result in zip(made, results, strict=True):
            target[place] = result
    shaped = tuple(array.reshape(shape) for array in made)
    return shaped if found.__class__ is tuple else shaped[0]


def blocks(shape: Shape) -> Iterator[tuple[int | slice, ...]]:
    """Yield indices that cover an array of this shape, in order, each of at most `BLOCK` elements.

    They go along one dimension, and through those before it one by one.
    """
    dim, inner = 0, size_of(shape[1:])
    while inner > BLOCK:
        dim += 1
        inner //= shape[dim]
    length = shape[dim]
    count = -(-length // (BLOCK // inner))
    step = -(-length // count)
    for before in itertools.product(*map(range, shape[:dim])):
        for start in range(0, length, step):
            yield *before, slice(start, start + step)


def parts(count: int, size: int) -> Iterator[slice]:
    """Yield which of `count` things, of `size` elements each, go together; at least one does."""
    together = max(BLOCK // max(size, 1), 1)
    for first in range(0, count, together):
        yield slice(first, first + together)


SPECIAL_CASES["in_blocks"] = in_blocks
