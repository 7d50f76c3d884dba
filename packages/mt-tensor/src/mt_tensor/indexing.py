"""Reading and writing by index: slices, which are views, and tensors of indices, which copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mt_operators import OPERATORS
from mt_tensor.dtypes import bool_, int64
from mt_tensor.elementwise import elementwise
from mt_tensor.errors import DTypeError, IndexingError, ShapeError
from mt_tensor.function import Function, common_backend, require_tensors
from mt_tensor.movement import Slice
from mt_tensor.strides import normalize_dim
from mt_tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


# --- gather and scatter -------------------------------------------------------------------------


class Gather(Function):
    """Elements read along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: TensorBase, dim: int, index: TensorBase) -> Tensor:
        ctx.dim, ctx.shape = dim, x.shape
        ctx.save_for_backward(index)
        out = x.backend.allocate(index.shape, x.dtype)
        x.backend.gather(x._tensor, dim, index._tensor, out)
        return x._with(out)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        zeros = grad._with(grad.backend.full(ctx.shape, grad.dtype, 0))
        return ScatterAdd.apply(zeros, ctx.dim, index, grad), None, None


class ScatterAdd(Function):
    """Elements added to a copy of a tensor along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: TensorBase, dim: int, index: TensorBase, source: TensorBase) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(index)
        out = x.clone()
        x.backend.scatter(source._tensor, dim, index._tensor, out._tensor, OPERATORS["add"])
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return grad, None, None, Gather.apply(grad, ctx.dim, index)


def _check_index(name: str, x: TensorBase, dim: int, index: TensorBase) -> int:
    """Check an index for gather or scatter against the tensor it points into."""
    require_tensors(name, x, index)
    common_backend(x, index)
    dim = normalize_dim(dim, x.ndim)
    if x.ndim == 0:
        raise ShapeError(f"{name}() needs a tensor with at least one dimension.")
    if index.dtype is not int64:
        raise DTypeError(f"{name}() takes an index of int64; {index.dtype.name} was given.")
    fits = index.ndim == x.ndim and all(
        i <= extent
        for d, (i, extent) in enumerate(zip(index.shape, x.shape, strict=True))
        if d != dim
    )
    if not fits:
        raise ShapeError(
            f"{name}() along dimension {dim}: an index of shape {index.shape} does not fit a "
            f"tensor of shape {x.shape}. It needs as many dimensions, none longer but {dim}."
        )
    _check_range(index, x.shape[dim], dim)
    return dim


def _check_range(index: TensorBase, extent: int, dim: int) -> None:
    """Raise IndexingError unless all indices are between 0 and `extent` - 1."""
    if index.numel() == 0:
        return
    low, high = int(index.amin().item()), int(index.amax().item())
    if low < 0 or high >= extent:
        raise IndexingError(
            f"index {low if low < 0 else high} is out of range for dimension {dim} with "
            f"{extent} element(s)."
        )


def gather(x: TensorBase, dim: int, index: TensorBase) -> Tensor:
    """Return `x[i][index[i][j][k]][k]` for `dim` 1 of 3, with the shape of `index`.

    Raises:
        DTypeError: `index` is not int64.
        ShapeError: `index` has other dimensions than `x`, or is too long in one.
        IndexingError: an index is out of range.
    """
    return Gather.apply(x, _check_index("gather", x, dim, index), index)


def scatter_add(x: TensorBase, dim: int, index: TensorBase, source: TensorBase) -> Tensor:
    """Return a copy of `x` with `source[i][j][k]` added at `[i][index[i][j][k]][k]`.

    Raises:
        DTypeError: `index` is not int64, or `source` has another dtype than `x`.
        ShapeError: `index` does not fit `x`, or is larger than `source`.
        IndexingError: an index is out of range.
    """
    dim = _check_index("scatter_add", x, dim, index)
    if source.dtype is not x.dtype:
        raise DTypeError(
            f"scatter_add() cannot add {source.dtype.name} to {x.dtype.name}: convert one of them."
        )
    if source.ndim != index.ndim or any(
        i > s for i, s in zip(index.shape, source.shape, strict=True)
    ):
        raise ShapeError(
            f"scatter_add() needs a source at least as large as its index; shapes {source.shape} "
            f"and {index.shape} were given."
        )
    if source.shape != index.shape:
        source = source._itself()[tuple(slice(extent) for extent in index.shape)]
    return ScatterAdd.apply(x, dim, index, source)


def index_select(x: TensorBase, dim: int, index: TensorBase) -> Tensor:
    """Return the slices of `x` along `dim` that a 1-D tensor of indices names.

    Raises:
        DTypeError: `index` is not an integer tensor.
        ShapeError: `index` is not 1-D.
        IndexingError: an index is out of range.
    """
    require_tensors("index_select", index)
    if index.ndim != 1:
        raise ShapeError(f"index_select() takes a 1-D index; shape {index.shape} was given.")
    if index.dtype.kind != "integer":
        raise DTypeError(
            f"index_select() takes an index of integers; {index.dtype.name} was given."
        )
    dim = normalize_dim(dim, x.ndim)
    if x.ndim == 0:
        raise ShapeError("index_select() needs a tensor with at least one dimension.")
    _check_range(index, x.shape[dim], dim)
    shape = (*x.shape[:dim], index.numel(), *x.shape[dim + 1 :])
    column = index.to(int64).view(*(-1 if d == dim else 1 for d in range(x.ndim)))
    return Gather.apply(x, dim, column.expand(shape))


# --- x[...] -------------------------------------------------------------------------------------


def _expand_ellipsis(key: Any, ndim: int) -> list[Any]:
    """Return one entry per dimension, and the Nones between them."""
    entries = list(key) if isinstance(key, tuple) else [key]
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    dots = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise IndexingError("an index may hold a single Ellipsis (...).")
    if used > ndim:
        raise IndexingError(f"{used} indices were given for a tensor of {ndim} dimension(s).")
    position = dots[0] if dots else len(entries)
    fill = [slice(None)] * (ndim - used)
    return entries[:position] + fill + entries[position + len(dots) :]


def _is_tensor_like(entry: Any) -> bool:
    return isinstance(entry, TensorBase | np.ndarray | list)


def _slice_indices(entry: slice, extent: int) -> tuple[int, int, int]:
    try:
        return entry.indices(extent)
    except (TypeError, ValueError) as error:
        raise IndexingError(f"{entry} cannot slice a tensor: {error}.") from None


def _view(x: TensorBase, entries: list[Any]) -> Tensor:
    """Apply integers, slices and None; every other entry is left as a whole dimension."""
    starts, steps, lengths, shape = [], [], [], []
    dim = 0
    for entry in entries:
        if entry is None:
            shape.append(1)
            continue
        extent = x.shape[dim]
        if isinstance(entry, slice):
            start, stop, step = _slice_indices(entry, extent)
            length = len(range(start, stop, step))
            shape.append(length)
        elif isinstance(entry, int | np.integer) and not isinstance(entry, bool):
            start, step, length = int(entry), 1, 1
            if not -extent <= start < extent:
                raise IndexingError(
                    f"index {start} is out of range for dimension {dim} with {extent} element(s)."
                )
            start %= extent
        else:
            raise IndexingError(
                f"a tensor cannot be indexed by {entry!r} of type {type(entry).__name__}: use "
                "integers, slices, None, ... or a tensor of integers."
            )
        starts.append(start)
        steps.append(step)
        lengths.append(length)
        dim += 1
    if tuple(lengths) != x.shape or any(step != 1 for step in steps):
        x = Slice.apply(x, tuple(starts), tuple(steps), tuple(lengths))
    return x.view(*shape) if tuple(shape) != x.shape else x._itself()


def get_item(x: TensorBase, key: Any) -> Tensor:
    """Return `x[key]`.

    Integers, slices with any step, None and Ellipsis give a view. One tensor (or list, or array)
    of integers, or one of bools over a single dimension, gives a copy.

    Raises:
        IndexingError: too many indices, one out of range, or one of another kind.
    """
    entries = _expand_ellipsis(key, x.ndim)
    special = [i for i, entry in enumerate(entries) if _is_tensor_like(entry)]
    if not special:
        return _view(x, entries)
    if len(special) > 1:
        raise IndexingError(
            f"an index may hold a single tensor, list or array; {len(special)} were given. Apply "
            "them one after the other."
        )
    at = special[0]
    given = entries[at]
    entries[at] = slice(None)
    x = _view(x, entries)
    dim = sum(entry is None or isinstance(entry, slice) for entry in entries[:at])
    index = _indices(given, x, dim)
    wrapped = elementwise("where", index < 0, index + x.shape[dim], index)
    picked = index_select(x, dim, wrapped.reshape(-1))
    return picked.reshape(*x.shape[:dim], *index.shape, *x.shape[dim + 1 :])


def _indices(entry: Any, x: TensorBase, dim: int) -> Tensor:
    """Return an index tensor of integers; a 1-D mask becomes the positions where it is True."""
    index = entry
    if not isinstance(index, TensorBase):
        array = np.asarray(entry)
        index = x._with(x.backend.upload(array if array.size else array.astype(int)))
    common_backend(x, index)
    if index.dtype is bool_:
        if index.shape != (x.shape[dim],):
            raise IndexingError(
                f"a mask for dimension {dim} must have shape ({x.shape[dim]},), one truth value "
                f"for each element; shape {index.shape} was given."
            )
        return x._with(x.backend.upload(np.flatnonzero(index.numpy())))
    if index.dtype.kind != "integer":
        raise IndexingError(
            f"a tensor of {index.dtype.name} cannot index: use integers or a mask of bools."
        )
    integers: Tensor = index.to(int64)
    return integers


def set_item(x: TensorBase, key: Any, value: Any) -> None:
    """Store into `x[key]`, where `key` holds integers, slices, None and Ellipsis."""
    entries = _expand_ellipsis(key, x.ndim)
    if any(_is_tensor_like(entry) for entry in entries):
        raise IndexingError(
            "assignment takes integers, slices, None and ... as index; use scatter_add() or "
            "where() to change elements named by a tensor."
        )
    _view(x, entries).copy_(value)


class IndexingMethods(TensorBase):
    """The methods of `Tensor` that read and write by index."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Tensor:
        """Return the elements that an index names; see `mt_tensor.indexing.get_item`."""
        return get_item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Store into the elements that an index names."""
        set_item(self, key, value)

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the slices of the first dimension."""
        if not self.shape:
            raise TypeError("a 0-dimensional tensor cannot be iterated over.")
        return (self[i] for i in range(len(self)))

    def gather(self, dim: int, index: TensorBase) -> Tensor:
        """Return elements read along `dim`; see `mt_tensor.indexing.gather`."""
        return gather(self, dim, index)

    def scatter_add(self, dim: int, index: TensorBase, src: Tensor) -> Tensor:
        """Return a copy with elements added; see `mt_tensor.indexing.scatter_add`."""
        return scatter_add(self, dim, index, src)

    def index_select(self, dim: int, index: TensorBase) -> Tensor:
        """Return the slices along `dim` that a 1-D tensor of indices names."""
        return index_select(self, dim, index)
