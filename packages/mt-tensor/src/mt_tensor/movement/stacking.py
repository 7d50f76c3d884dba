"""Joining tensors in torch's other ways: side by side, in depth, as blocks, in combinations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import as_integer
from mt_tensor.core.dtypes import result_type
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError
from mt_tensor.movement.joining import cat, check_list, stack
from mt_tensor.movement.padding import pad
from mt_tensor.movement.rearranging import meshgrid

# --- With more dimensions -----------------------------------------------------------------------


def _each(view: Callable[[Any], Tensor], tensors: tuple[Any, ...]) -> Any:
    """Return the view of one tensor, or those of several, or of a list of them, as a tuple."""
    if len(tensors) == 1 and isinstance(tensors[0], Sequence):
        return tuple(map(view, tensors[0]))
    views = tuple(map(view, tensors))
    return views[0] if len(views) == 1 else views


def _widened(name: str, ndim: int, tensor: Tensor) -> Tensor:
    """Return a view with new dimensions in front until there are `ndim`."""
    require_tensors(name, tensor)
    missing = max(ndim - tensor.ndim, 0)
    return tensor.view(*(1,) * missing, *tensor.shape) if missing else tensor


def atleast_1d(*tensors: Any) -> Any:
    """Return tensors with dimensions, 0-D ones as views of shape (1,).

    Args:
        *tensors: one, several, or a list of them.

    Returns:
        One tensor for one, else a tuple of them.
    """
    return _each(lambda x: _widened("atleast_1d", 1, x), tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Return tensors of two dimensions or more, others as views with sizes of 1 in front.

    Args:
        *tensors: one, several, or a list of them.

    Returns:
        One tensor for one, else a tuple of them.
    """
    return _each(lambda x: _widened("atleast_2d", 2, x), tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Return tensors of three dimensions or more, others as views with sizes of 1.

    A matrix gets its new dimension at the end, a vector one on either side.

    Args:
        *tensors: one, several, or a list of them.

    Returns:
        One tensor for one, else a tuple of them.
    """
    return _each(_deep, tensors)


def _deep(tensor: Tensor) -> Tensor:
    require_tensors("atleast_3d", tensor)
    if tensor.ndim >= 3:
        return tensor
    shape = {0: (1, 1, 1), 1: (1, *tensor.shape, 1), 2: (*tensor.shape, 1)}[tensor.ndim]
    return tensor.view(*shape)


# --- Beside, below and behind each other --------------------------------------------------------


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors side by side: along the second dimension, or the only one.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in another dimension.
    """
    check_list("hstack", tensors)
    parts = atleast_1d(tensors)
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors below each other, 1-D ones as rows.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in another dimension than the first.
    """
    check_list("vstack", tensors)
    return cat(atleast_2d(tensors), 0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors in depth: along the third dimension, which matrices and vectors get.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in another dimension.
    """
    check_list("dstack", tensors)
    return cat(atleast_3d(tensors), 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors side by side, 0-D and 1-D ones as columns.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in another dimension than the second.
    """
    check_list("column_stack", tensors)
    return hstack([x.reshape(-1, 1) if x.ndim < 2 else x for x in tensors])


# --- Blocks and combinations --------------------------------------------------------------------


def block_diag(*tensors: Tensor) -> Tensor:
    """Return the matrix with the given ones along its diagonal, and zeros elsewhere.

    Args:
        *tensors: matrices; a vector counts as a row, a 0-D tensor as one element. They are promoted
            as operands are.

    Raises:
        ShapeError: none was given, or one has more than two dimensions.
    """
    check_list("block_diag", tensors)
    if any(x.ndim > 2 for x in tensors):
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(f"block_diag() takes tensors of up to two dimensions; given: {shapes}.")
    dtype = result_type(*tensors)
    blocks = [(x.reshape(1, -1) if x.ndim < 2 else x).to(dtype) for x in tensors]
    width, left, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        own = block.shape[1]
        rows.append(pad(block, (left, width - left - own)))
        left += own
    return cat(rows, 0)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all ways to take an element of each vector, one a row, the last varying fastest.

    Args:
        *tensors: 1-D, of one dtype; a single one is returned as it is.

    Raises:
        ShapeError: none was given, or one is not 1-D.
        DTypeError: the dtypes differ.
    """
    check_list("cartesian_prod", tensors)
    if any(x.ndim != 1 for x in tensors):
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(f"cartesian_prod() takes 1-D tensors; given: {shapes}.")
    if len(tensors) == 1:
        return tensors[0]
    return stack([grid.flatten() for grid in meshgrid(*tensors)], 1)


@validate_call
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all ways to choose `r` elements of a vector in their order, one a row.

    Args:
        input: 1-D.
        r: how many are chosen; of none there is the one empty choice, which torch returns as an
            empty vector.
        with_replacement: whether an element may be chosen again.

    Raises:
        ShapeError: `input` is not 1-D.
        DomainError: `r` is negative.
        TypeError: `r` is no integer.
    """
    if input.ndim != 1:
        raise ShapeError(f"combinations() takes a 1-D tensor; shape {input.shape} was given.")
    r = as_integer("r", r, least=0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = list(choose(range(input.shape[0]), r)) if r else []
    places = np.array(chosen, np.int64).reshape((len(chosen), r) if r else (0,))
    return input[input._uploaded(places)]
