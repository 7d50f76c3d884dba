"""Roll, repeat, move and broadcast dimensions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_tensor.checks import check_choice, check_same_dtype, existing_dim, validate_call
from mt_tensor.core.arguments import as_integers, as_shape, check_addressable
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.strides import normalize_dims, shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DTypeError, IndexingError, ShapeError
from mt_tensor.movement.joining import cat

Ints = int | Sequence[int]


@validate_call
def roll(input: Tensor, shifts: Ints, dims: Ints | None = None) -> Tensor:
    """Return a copy with elements shifted cyclically along dimensions.

    Args:
        input: any tensor.
        shifts: the shift along each of `dims`; negative towards the front.
        dims: the dimensions; None or () to shift along the flattened tensor.

    Raises:
        ShapeError: the numbers of shifts and dimensions differ.
        IndexingError: a dimension is out of range.
    """
    offsets = as_integers((shifts,))
    named = () if dims is None else as_integers((dims,))
    if not named:
        if len(offsets) != 1:
            raise ShapeError(f"roll() without dims takes one shift; {offsets} was given.")
        return _rolled(input.reshape(-1), offsets[0], 0).reshape(input.shape)
    if len(named) != len(offsets):
        raise ShapeError(
            f"roll() takes a shift for each of dims={named}; shifts={offsets} was given."
        )
    out = input
    for offset, dim in zip(offsets, named, strict=True):
        out = _rolled(out, offset, existing_dim("roll", dim, input.shape))
    return out


def _rolled(x: Tensor, offset: int, dim: int) -> Tensor:
    size = x.shape[dim]
    if size == 0:
        return x.clone()
    kept = size - offset % size
    return cat([x.narrow(dim, kept, size - kept), x.narrow(dim, 0, kept)], dim)


@validate_call
def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Repeat the tensor `dims[d]` times along each dimension `d`.

    The shorter of `dims` and the shape is extended by ones in front.

    Raises:
        ShapeError: a number is negative.
    """
    counts = as_integers((dims,))
    if any(count < 0 for count in counts):
        raise ShapeError(f"tile() takes non-negative integers; {counts} was given.")
    missing = max(input.ndim - len(counts), 0)
    return input.repeat(*(1,) * missing, *counts)


@validate_call
def repeat_interleave(
    input: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Repeat each slice along a dimension, next to itself.

    Args:
        input: any tensor.
        repeats: the number of repetitions; or a tensor of int32 or int64 with one number for all
            slices, shape () or (1,), or one per slice. If None, `input` has these numbers, and the
            indices 0, 1, ... are repeated.
        dim: the dimension; None to repeat the elements of the flattened tensor.
        output_size: the size of the dimension of the result, to check.

    Raises:
        DTypeError: `repeats` is a tensor whose dtype is neither int32 nor int64.
        ShapeError: `repeats` has another shape or a negative number, the result would be too
            large, or its size is not `output_size`.
        IndexingError: `dim` is out of range.
    """
    if repeats is None:
        input, repeats = input._uploaded(np.arange(input.numel())), input
    if dim is None:
        input, dim = input.reshape(-1), 0
    d = existing_dim("repeat_interleave", dim, input.shape)
    counts = _counts(input, repeats, input.shape[d])
    positions = np.repeat(np.arange(input.shape[d]), counts)
    if output_size is not None and output_size != positions.size:
        raise ShapeError(
            f"repeat_interleave() returns {positions.size} slices; output_size={output_size} was "
            "given."
        )
    return input.index_select(d, input._uploaded(positions))


def _counts(input: Tensor, repeats: int | Tensor, length: int) -> Any:
    """Return the number of repetitions of each of `length` slices, as an array."""
    if isinstance(repeats, Tensor):
        common_backend(input, repeats)
        if repeats.dtype.name not in ("int32", "int64"):
            raise DTypeError(
                f"repeat_interleave() takes repeats of int32 or int64; {repeats.dtype.name} was "
                "given."
            )
        counts: Any = repeats.numpy()
    else:
        counts = np.array(as_integers((repeats,)), object)  # may exceed int64
    if counts.ndim > 1 or counts.size not in (1, length):
        raise ShapeError(
            "repeat_interleave() takes repeats as a single number, or as a 1-D tensor of one for "
            f"each of {length} slice(s); shape {counts.shape} was given."
        )
    counts = counts.reshape(-1)
    if counts.size and counts.min() < 0:
        raise ShapeError(
            f"repeat_interleave() takes non-negative repeats; {counts.min()} was given."
        )
    check_addressable((sum(counts.tolist()) * (length if counts.size == 1 else 1),))
    return np.broadcast_to(counts.astype(np.int64), (length,))


@validate_call
def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Return a view with dimensions moved to other positions; the others keep their order.

    Raises:
        IndexingError: a dimension is out of range or repeated, or `source` and `destination` have
            different lengths.
    """
    given = as_integers((source,)), as_integers((destination,))
    if len(given[0]) != len(given[1]):
        raise IndexingError(
            f"movedim() takes as many destinations as sources; sources {given[0]} and destinations "
            f"{given[1]} were given."
        )
    sources, targets = (normalize_dims(dims, input.ndim) for dims in given)
    order = [d for d in range(input.ndim) if d not in sources]
    for target, moved in sorted(zip(targets, sources, strict=True)):
        order.insert(target, moved)
    return input.permute(*order)


moveaxis = movedim


@validate_call
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions swapped, like `transpose`.

    Raises:
        IndexingError: a dimension is out of range.
    """
    return input.transpose(dim0, dim1)


@validate_call
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return a view with two dimensions swapped, like `transpose`.

    Raises:
        IndexingError: a dimension is out of range.
    """
    return input.transpose(axis0, axis1)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Expand tensors to their broadcast shape; tensors of this shape are returned unchanged.

    Raises:
        IndexingError: the shapes do not broadcast.
    """
    require_tensors("broadcast_tensors", *tensors)
    shape = broadcast_shapes(*(tensor.shape for tensor in tensors))
    return tuple(x if x.shape == shape else x.expand(shape) for x in tensors)


def broadcast_shapes(*shapes: Ints) -> tuple[int, ...]:
    """Return the broadcast shape of several shapes.

    Args:
        *shapes: tuples of sizes; an integer n is the shape (n,).

    Raises:
        IndexingError: the shapes do not broadcast.
        ShapeError: a size is negative.
    """
    return functools.reduce(shape_broadcast, [as_shape((given,)) for given in shapes], ())


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, as one view of the grid's shape per 1-D tensor.

    Args:
        *tensors: 1-D or 0-D tensors of one dtype; or one list of them.
        indexing: "ij" for a grid whose dimension `d` has the size of tensor `d`; "xy" to swap the
            first two dimensions.

    Raises:
        ShapeError: a tensor has more than one dimension, or none was given.
        DTypeError: the dtypes differ.
        DomainError: `indexing` has another value.
    """
    lines = tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], Sequence) else tensors
    require_tensors("meshgrid", *lines)
    check_choice("meshgrid", "indexing", indexing, ("ij", "xy"))
    if not lines or any(line.ndim > 1 for line in lines):
        shapes = ", ".join(str(line.shape) for line in lines)
        given = f"shape(s) {shapes}" if lines else "none"
        raise ShapeError(f"meshgrid() takes one or more 1-D tensors; {given} were given.")
    check_same_dtype("meshgrid", *lines)
    if indexing == "xy" and len(lines) > 1:
        first, second, *rest = meshgrid(lines[1], lines[0], *lines[2:])
        return second, first, *rest
    return broadcast_tensors(
        *(line.reshape(-1, *(1,) * (len(lines) - 1 - d)) for d, line in enumerate(lines))
    )
