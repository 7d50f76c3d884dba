"""Join tensors as rows, columns, in depth or as blocks, and list combinations of elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_tensor.checks import check_same_dtype, validate_call
from mt_tensor.core.arguments import as_integer
from mt_tensor.core.dtypes import result_type
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError
from mt_tensor.movement.joining import check_list, joined, stack
from mt_tensor.movement.padding import pad
from mt_tensor.movement.rearranging import meshgrid

# --- Leading dimensions -------------------------------------------------------------------------


def _map_tensors(view: Callable[[Any], Tensor], tensors: tuple[Any, ...]) -> Any:
    """Return the result of a function for one tensor; a tuple for several or a list of them."""
    if len(tensors) == 1 and isinstance(tensors[0], Sequence):
        return tuple(map(view, tensors[0]))
    views = tuple(map(view, tensors))
    return views[0] if len(views) == 1 else views


def _at_least(name: str, ndim: int, tensor: Tensor) -> Tensor:
    """Return a view of at least `ndim` dimensions, with sizes of 1 in front."""
    require_tensors(name, tensor)
    missing = max(ndim - tensor.ndim, 0)
    return tensor.view(*(1,) * missing, *tensor.shape) if missing else tensor


def atleast_1d(*tensors: Any) -> Any:
    """View 0-D tensors as shape (1,); return other tensors unchanged.

    Args:
        *tensors: one tensor, several, or a list of them.

    Returns:
        A tensor for one tensor, else a tuple.
    """
    return _map_tensors(lambda x: _at_least("atleast_1d", 1, x), tensors)


def atleast_2d(*tensors: Any) -> Any:
    """View tensors with fewer than two dimensions as matrices, with sizes of 1 in front.

    Args:
        *tensors: one tensor, several, or a list of them.

    Returns:
        A tensor for one tensor, else a tuple.
    """
    return _map_tensors(lambda x: _at_least("atleast_2d", 2, x), tensors)


def atleast_3d(*tensors: Any) -> Any:
    """View tensors with fewer than three dimensions as 3-D tensors.

    A matrix gets a new dimension at the end, a vector one on either side.

    Args:
        *tensors: one tensor, several, or a list of them.

    Returns:
        A tensor for one tensor, else a tuple.
    """
    return _map_tensors(_atleast_3d, tensors)


def _atleast_3d(tensor: Tensor) -> Tensor:
    x = _at_least("atleast_3d", 2, tensor)
    return x.unsqueeze(-1) if x.ndim == 2 else x


# --- Stacks -------------------------------------------------------------------------------------


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors horizontally: along dimension 1, or dimension 0 if the first is 1-D.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in a dimension that is not joined.
    """
    check_list("hstack", tensors)
    parts = atleast_1d(tensors)
    return joined("hstack", parts, 0 if parts[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors vertically, along dimension 0; 1-D tensors become rows.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in a dimension other than 0.
    """
    check_list("vstack", tensors)
    return joined("vstack", atleast_2d(tensors), 0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors in depth, along dimension 2, after `atleast_3d`.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in a dimension other than 2.
    """
    check_list("dstack", tensors)
    return joined("dstack", atleast_3d(tensors), 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors along dimension 1; 0-D and 1-D tensors become columns.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in a dimension other than 1.
    """
    check_list("column_stack", tensors)
    columns = [x.reshape(-1, 1) if x.ndim < 2 else x for x in tensors]
    return joined("column_stack", columns, 1)


# --- Blocks and combinations --------------------------------------------------------------------


def block_diag(*tensors: Tensor) -> Tensor:
    """Return a matrix with the given matrices along its diagonal, and zeros elsewhere.

    Args:
        *tensors: matrices; a vector becomes a row, a 0-D tensor a single element. The dtypes are
            promoted.

    Raises:
        ShapeError: no tensor was given, or one has more than two dimensions.
    """
    check_list("block_diag", tensors)
    if any(x.ndim > 2 for x in tensors):
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(
            f"block_diag() takes tensors of at most two dimensions; {shapes} were given."
        )
    dtype = result_type(*tensors)
    blocks = [(x.reshape(1, -1) if x.ndim < 2 else x).to(dtype) for x in tensors]
    width, left, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        size = block.shape[1]
        rows.append(pad(block, (left, width - left - size)))
        left += size
    return joined("block_diag", rows, 0)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return the Cartesian product of vectors, one tuple per row; the last varies fastest.

    Args:
        *tensors: 1-D, of one dtype; a single one is returned unchanged.

    Raises:
        ShapeError: no tensor was given, or one is not 1-D.
        DTypeError: the dtypes differ.
    """
    check_list("cartesian_prod", tensors)
    check_same_dtype("cartesian_prod", *tensors)
    if any(x.ndim != 1 for x in tensors):
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ShapeError(f"cartesian_prod() takes 1-D tensors; {shapes} were given.")
    if len(tensors) == 1:
        return tensors[0]
    return stack([grid.flatten() for grid in meshgrid(*tensors)], 1)


@validate_call
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all combinations of `r` elements of a vector, one per row.

    Args:
        input: 1-D.
        r: the number of elements; for 0 the result has shape (0,), as in torch.
        with_replacement: whether elements may be repeated.

    Raises:
        ShapeError: `input` is not 1-D.
        DomainError: `r` is negative.
        TypeError: `r` is not an integer.
    """
    if input.ndim != 1:
        raise ShapeError(f"combinations() takes a 1-D tensor; shape {input.shape} was given.")
    r = as_integer("combinations(): r", r, minimum=0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = list(choose(range(input.shape[0]), r)) if r else []
    positions = np.array(chosen, np.int64).reshape((len(chosen), r) if r else (0,))
    return input[input._uploaded(positions)]
