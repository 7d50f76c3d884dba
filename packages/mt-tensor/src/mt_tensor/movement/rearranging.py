"""Rolling, repeating and exchanging dimensions."""

from __future__ import annotations

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


def _several(values: Ints) -> tuple[int, ...]:
    """Return one integer, or several, as a tuple."""
    return as_integers((values,))


@validate_call
def roll(input: Tensor, shifts: Ints, dims: Ints | None = None) -> Tensor:
    """Return a copy with elements moved along dimensions; what leaves at the end enters in front.

    Args:
        input: any tensor.
        shifts: by how much, for each of `dims`; negative towards the front.
        dims: the dimensions; None to move along the flattened tensor.

    Raises:
        ShapeError: the numbers of shifts and dimensions differ.
    """
    distances = _several(shifts)
    if dims is None:
        if len(distances) != 1:
            raise ShapeError(f"roll() without dims takes one shift; {distances} was given.")
        return _rolled(input.reshape(-1), distances[0], 0).reshape(input.shape)
    directions = _several(dims)
    if len(directions) != len(distances) or not directions:
        raise ShapeError(f"roll() takes a shift for each of dims {directions}; got {distances}.")
    out = input
    for distance, dim in zip(distances, directions, strict=True):
        out = _rolled(out, distance, existing_dim("roll", dim, input.shape))
    return out


def _rolled(x: Tensor, distance: int, dim: int) -> Tensor:
    length = x.shape[dim]
    if length == 0:
        return x.clone()
    kept = length - distance % length
    return cat([x.narrow(dim, kept, length - kept), x.narrow(dim, 0, kept)], dim)


@validate_call
def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return copies laid beside each other, `dims[d]` of them along dimension `d`.

    Missing numbers are 1, in front; missing dimensions too.

    Raises:
        ShapeError: a number is negative.
    """
    counts = _several(dims)
    missing = max(input.ndim - len(counts), 0)
    return input.repeat(*(1,) * missing, *counts)


@validate_call
def repeat_interleave(
    input: Tensor, repeats: int | Tensor, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Return a copy in which each slice along a dimension is repeated, next to itself.

    Args:
        input: any tensor.
        repeats: how often; or int32 or int64 of shape () or (1,), or with one number per slice.
        dim: the dimension; None to repeat the elements of the flattened tensor.
        output_size: the length that results, which is checked.

    Raises:
        DTypeError: `repeats` is no tensor of int32 or int64.
        ShapeError: `repeats` has another length or a negative number, there would be too many
            slices, or `output_size` is wrong.
    """
    if dim is None:
        input, dim = input.reshape(-1), 0
    d = existing_dim("repeat_interleave", dim, input.shape)
    counts = _counts(input, repeats, input.shape[d])
    positions = np.repeat(np.arange(input.shape[d]), counts)
    if output_size is not None and output_size != positions.size:
        raise ShapeError(
            f"repeat_interleave() gives {positions.size} slices; output_size is {output_size}."
        )
    return input.index_select(d, input._uploaded(positions))


def _counts(input: Tensor, repeats: int | Tensor, length: int) -> Any:
    """Return how often each of `length` slices is repeated, as an array."""
    if isinstance(repeats, Tensor):
        common_backend(input, repeats)
        if repeats.dtype.name not in ("int32", "int64"):
            raise DTypeError(f"repeats must be int32 or int64; {repeats.dtype.name} was given.")
        counts: Any = repeats.numpy()
    else:
        counts = np.array(_several(repeats), object)  # may be beyond all integer types
    if counts.ndim > 1 or counts.size not in (1, length):
        raise ShapeError(
            f"repeats must be one number, or 1-D with one for each of {length} slice(s); shape "
            f"{counts.shape} was given."
        )
    counts = counts.reshape(-1)
    if counts.size and counts.min() < 0:
        raise ShapeError(f"repeats must not be negative; {counts.min()} was given.")
    check_addressable((sum(counts.tolist()) * (length if counts.size == 1 else 1),))
    return np.broadcast_to(counts.astype(np.int64), (length,))


@validate_call
def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Return a view with dimensions moved to other places; the rest keep their order.

    Raises:
        IndexingError: a dimension does not exist or is named twice, or the numbers differ.
    """
    given = _several(source), _several(destination)
    if len(given[0]) != len(given[1]):
        raise IndexingError(f"movedim() from {given[0]} to {given[1]}: the numbers differ.")
    sources, targets = (normalize_dims(dims, input.ndim) for dims in given)
    order = [d for d in range(input.ndim) if d not in sources]
    for target, moved in sorted(zip(targets, sources, strict=True)):
        order.insert(target, moved)
    return input.permute(*order)


moveaxis = movedim


@validate_call
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions exchanged, like `transpose`."""
    return input.transpose(dim0, dim1)


@validate_call
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return a view with two dimensions exchanged, like `transpose`."""
    return input.transpose(axis0, axis1)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Return all tensors expanded to the shape they broadcast to; one that has it as it is.

    Raises:
        IndexingError: the shapes do not broadcast.
    """
    require_tensors("broadcast_tensors", *tensors)
    shape: tuple[int, ...] = ()
    for tensor in tensors:
        shape = shape_broadcast(shape, tensor.shape)
    return tuple(x if x.shape == shape else x.expand(shape) for x in tensors)


def broadcast_shapes(*shapes: Ints) -> tuple[int, ...]:
    """Return the shape that tensors of some shapes broadcast to.

    Args:
        *shapes: tuples of lengths; a number stands for a vector's.

    Raises:
        IndexingError: the shapes do not broadcast.
        ShapeError: a length is negative.
    """
    common: tuple[int, ...] = ()
    for given in shapes:
        common = shape_broadcast(common, as_shape((given,)))
    return common


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return the coordinates of a grid: for each 1-D tensor a view of the grid's shape.

    Args:
        *tensors: 1-D or 0-D, of one dtype; or one list of them.
        indexing: "ij", so that the grid's shape is that of the tensors' lengths; or "xy", which
            exchanges the first two dimensions.

    Raises:
        ShapeError: a tensor has more dimensions, or none was given.
        DTypeError: the dtypes differ.
        DomainError: `indexing` is neither.
    """
    lines = tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], Sequence) else tensors
    require_tensors("meshgrid", *lines)
    check_choice("indexing", indexing, ("ij", "xy"))
    if not lines or any(line.ndim > 1 for line in lines):
        shapes = ", ".join(str(line.shape) for line in lines)
        raise ShapeError(f"meshgrid() takes 1-D tensors, at least one; given: {shapes or 'none'}.")
    check_same_dtype("meshgrid", *lines)
    if indexing == "xy" and len(lines) > 1:
        first, second, *rest = meshgrid(lines[1], lines[0], *lines[2:])
        return second, first, *rest
    return broadcast_tensors(
        *(line.reshape(-1, *(1,) * (len(lines) - 1 - d)) for d, line in enumerate(lines))
    )
