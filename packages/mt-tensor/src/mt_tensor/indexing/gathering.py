"""Reading and writing along one dimension, by tensors of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_operators import OPERATORS
from mt_tensor.dtypes import int64
from mt_tensor.errors import DTypeError, IndexingError, ShapeError
from mt_tensor.public import operation
from mt_tensor.recording.function import Function, common_backend, require_tensors
from mt_tensor.strides import Shape, normalize_dim
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData

_ADD = OPERATORS["add"]


# --- gather and scatter -------------------------------------------------------------------------


class Gather(Function):
    """Elements read along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor) -> Tensor:
        ctx.dim, ctx.shape = dim, x.shape
        ctx.save_for_backward(index)
        return x._with(x.backend.gather(x._tensor, dim, index._tensor))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return Collect.apply(grad, ctx.dim, index, ctx.shape), None, None


class Collect(Function):
    """Elements added up along a dimension of a tensor that is 0 elsewhere; undoes `Gather`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor, shape: Shape) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(index)
        out = x.backend.full(shape, x.dtype, 0)
        x.backend.scatter(x._tensor, dim, index._tensor, out, _ADD)
        return x._with(out)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return Gather.apply(grad, ctx.dim, index), None, None, None


class GatherSlices(Function):
    """Slices along a dimension; the dimensions of the index take its place."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor) -> Tensor:
        ctx.dim, ctx.shape = dim, x.shape
        ctx.save_for_backward(index)
        row = index if index.ndim == 1 else index.reshape(-1)
        slices = x.backend.gather(x._tensor, dim, _named(row._tensor, dim, x.shape))
        if index.ndim != 1:
            shape = (*x.shape[:dim], *index.shape, *x.shape[dim + 1 :])
            slices = TensorData(slices.storage, shape, dtype=slices.dtype)
        return x._with(slices)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        dim, shape = ctx.dim, ctx.shape
        if index.ndim != 1:
            grad = grad.reshape(*shape[:dim], index.numel(), *shape[dim + 1 :])
            index = index.reshape(-1)
        return Collect.apply(grad, dim, along(index, dim, shape), shape), None, None


class ScatterAdd(Function):
    """Elements added to a copy of a tensor along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(index)
        out = x.clone()
        x.backend.scatter(source._tensor, dim, index._tensor, out._tensor, _ADD)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return grad, None, None, Gather.apply(grad, ctx.dim, index)


def check_index(name: str, x: Tensor, dim: int, index: Tensor) -> int:
    """Check an index for gather or scatter against the tensor it points into."""
    require_tensors(name, x, index)
    common_backend(x, index)
    dim = normalize_dim(dim, x.ndim)
    if x.ndim == 0:
        raise IndexingError(f"{name}() needs a tensor with at least one dimension.")
    if index.dtype is not int64:
        raise DTypeError(f"{name}() takes an index of int64; {index.dtype.name} was given.")
    fits = index.ndim == x.ndim
    for d, (wanted, extent) in enumerate(zip(index.shape, x.shape, strict=False)):
        if wanted > extent and d != dim:
            fits = False
    if not fits:
        raise ShapeError(
            f"{name}() along dimension {dim}: an index of shape {index.shape} does not fit a "
            f"tensor of shape {x.shape}. It needs as many dimensions, none longer but {dim}."
        )
    check_range(index, x.shape[dim], f"dimension {dim}")
    return dim


def lowest_and_highest(index: Tensor) -> tuple[int, int]:
    """Return the limits between which the indices of a tensor lie, which has elements."""
    array = index.backend.to_host(index._tensor)  # a look costs less than two reductions
    return int(array.min()), int(array.max())


def lies_within(index: Tensor, extent: int) -> bool:
    """Whether all indices of int64 are between 0 and `extent` - 1."""
    if index.dtype is not int64 or not index.numel():
        return False
    array = index.backend.to_host(index._tensor)
    return int(array.view(np.uint64).max()) < extent  # as these, negative ones are the largest


def check_range(index: Tensor, extent: int, what: str) -> None:
    """Raise IndexingError unless all indices into something are between 0 and `extent` - 1."""
    if not index.numel() or lies_within(index, extent):
        return
    low, high = lowest_and_highest(index)
    if low < 0 or high >= extent:
        raise IndexingError(
            f"index {low if low < 0 else high} is out of range for {what} with {extent} element(s)."
        )


def check_source(name: str, input: Tensor, index: Tensor, source: Tensor) -> Tensor:
    """Return the part of a source for scatter that the index uses.

    Raises:
        DTypeError: it has another dtype than `input`.
        ShapeError: it is smaller than the index.
    """
    require_tensors(name, source)
    common_backend(input, source)
    if source.dtype is not input.dtype:
        raise DTypeError(
            f"{name}() cannot bring {source.dtype.name} to {input.dtype.name}: convert one of them."
        )
    if source.ndim != index.ndim or any(
        i > s for i, s in zip(index.shape, source.shape, strict=True)
    ):
        raise ShapeError(
            f"{name}() needs a source at least as large as its index; shapes {source.shape} "
            f"and {index.shape} were given."
        )
    if source.shape == index.shape:
        return source
    return source[tuple(slice(extent) for extent in index.shape)]


def check_1d_index(name: str, input: Tensor, dim: int, index: Tensor) -> int:
    """Check an index that names whole slices along `dim`, and return `dim` from the front.

    Raises:
        DTypeError: it is not an integer tensor.
        IndexingError: it is not 1-D, an index is out of range, or `input` is 0-D.
    """
    require_tensors(name, input, index)
    common_backend(input, index)
    if index.ndim != 1:
        raise IndexingError(f"{name}() takes a 1-D index; shape {index.shape} was given.")
    if index.dtype.kind != "integer":
        raise DTypeError(f"{name}() takes an index of integers; {index.dtype.name} was given.")
    dim = normalize_dim(dim, input.ndim)
    if input.ndim == 0:
        raise IndexingError(f"{name}() needs a tensor with at least one dimension.")
    check_range(index, input.shape[dim], f"dimension {dim}")
    return dim


@operation
def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return `input[i][index[i][j][k]][k]` for `dim` 1 of 3, with the shape of `index`.

    Raises:
        DTypeError: `index` is not int64.
        ShapeError: `index` has other dimensions than `input`, or is too long in one.
        IndexingError: an index is out of range.
    """
    return Gather.apply(input, check_index("gather", input, dim, index), index)


@operation
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy of `input` with `src[i][j][k]` added at `[i][index[i][j][k]][k]`.

    Raises:
        DTypeError: `index` is not int64, or `src` has another dtype than `input`.
        ShapeError: `index` does not fit `input`, or is larger than `src`.
        IndexingError: an index is out of range.
    """
    dim = check_index("scatter_add", input, dim, index)
    return ScatterAdd.apply(input, dim, index, check_source("scatter_add", input, index, src))


def gather_unchecked(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements at valid indices along `dim`, to which the gradient then goes."""
    return Gather.apply(x, dim, index) if x.ndim else x.clone()


def along(index: Tensor, dim: int, shape: Shape) -> Tensor:
    """Return a view of a 1-D index that names whole slices along `dim` of a tensor of `shape`."""
    return index._with(_named(index._tensor, dim, shape))


def _named(data: TensorData, dim: int, shape: Shape) -> TensorData:
    before, after = shape[:dim], shape[dim + 1 :]
    strides = (*(0,) * len(before), *data.strides, *(0,) * len(after))
    return data.like((*before, *data.shape, *after), strides, data.offset)


def element_numbers(x: Tensor) -> Tensor:
    """Return the elements' numbers, row by row: what an index shows of them tells what it names."""
    return x._uploaded(np.arange(x.numel()).reshape(x.shape))


@operation
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices of `input` along `dim` that a 1-D tensor of indices names.

    Raises:
        DTypeError: `index` is not an integer tensor.
        IndexingError: `index` is not 1-D, or an index is out of range.
    """
    dim = check_1d_index("index_select", input, dim, index)
    return GatherSlices.apply(input, dim, index.to(int64))
