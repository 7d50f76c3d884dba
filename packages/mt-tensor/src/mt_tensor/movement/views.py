"""Operations that move elements: other views of the same storage, and their inverses.

Forward, each is arithmetic on strides. Backward, each is undone by another of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.arguments import as_integer, as_integers
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import DType, as_dtype, bool_
from mt_tensor.errors import DTypeError, IndexingError, ShapeError
from mt_tensor.layout import Layout, layout_of
from mt_tensor.public import attribute, method
from mt_tensor.recording.function import Function
from mt_tensor.recording.view import ViewFunction
from mt_tensor.strides import Shape, normalize_dim, normalize_dims, size_of
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData


class Permute(ViewFunction):
    """Dimensions in another order."""

    @staticmethod
    def moved(data: TensorData, order: tuple[int, ...]) -> TensorData:
        return data.permute(*order)

    @staticmethod
    def undone(grad: Tensor, shape: Shape, order: tuple[int, ...]) -> Tensor:
        return Permute.apply(grad, tuple([order.index(d) for d in range(len(order))]))


class View(ViewFunction):
    """The same elements in another shape."""

    @staticmethod
    def moved(data: TensorData, shape: Shape) -> TensorData:
        view = data.view(shape)
        if view is None:
            raise ShapeError(
                f"a tensor of shape {data.shape} and strides {data.strides} cannot be viewed as "
                f"{shape} without a copy: use reshape(), or contiguous() first."
            )
        return view

    @staticmethod
    def undone(grad: Tensor, shape: Shape, _: Shape) -> Tensor:
        return grad.reshape(*shape)


class Expand(ViewFunction):
    """Extents of 1 repeated, and new dimensions in front."""

    @staticmethod
    def moved(data: TensorData, shape: Shape) -> TensorData:
        view = data.expand(shape)
        if view is data:  # a view all the same, of which changes in place have to know
            return data.like(data.shape, data.strides, data.offset)
        return view

    @staticmethod
    def undone(grad: Tensor, shape: Shape, _: Shape) -> Tensor:
        return grad.sum_to_size(shape)


class Unfold(ViewFunction):
    """Windows along a dimension, which may overlap; the window is a new last dimension."""

    @staticmethod
    def moved(data: TensorData, dim: int, size: int, step: int) -> TensorData:
        return data.unfold(dim, size, step)

    @staticmethod
    def undone(grad: Tensor, shape: Shape, dim: int, size: int, step: int) -> Tensor:
        return Fold.apply(grad, dim, shape[dim], step)


class Fold(Function):
    """Windows laid back to where they came from, added up where they overlap; undoes `Unfold`."""

    @staticmethod
    def forward(ctx: Any, windows: Tensor, dim: int, extent: int, step: int) -> Tensor:
        ctx.dim, ctx.size, ctx.step = dim, windows.shape[-1], step
        shape = (*windows.shape[:dim], extent, *windows.shape[dim + 1 : -1])
        result = windows._with(_zeros_like(windows._tensor, shape, windows.backend))
        count = windows.shape[dim]
        for k in range(ctx.size):  # the k-th element of every window is one strided slice
            index = [slice(None)] * len(shape)
            index[dim] = slice(k, k + step * (count - 1) + 1 if count else k, step)
            result[tuple(index)] += windows[..., k]
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return Unfold.apply(grad, ctx.dim, ctx.size, ctx.step), None, None, None


def _zeros_like(data: TensorData, shape: Shape, backend: TensorBackend) -> TensorData:
    """Return zeros of a shape whose dimensions, the first of a view, lie in memory as its do."""
    order = sorted(range(len(shape)), key=lambda d: -abs(data.strides[d]))
    zeros = backend.full(tuple([shape[d] for d in order]), data.dtype, 0)
    return zeros.permute(*[order.index(d) for d in range(len(shape))])


def reshaped(x: Tensor, shape: Shape) -> Tensor:
    """Return the same elements in a shape that holds as many, copying only if it must be."""
    if not x.is_contiguous() and x._tensor.view(shape) is None:
        x = x.contiguous()
    return View.apply(x, shape)


def reinterpreted(x: Tensor, dtype: DType) -> Tensor:
    """Return a view of the same memory as elements of another type, without history.

    The last extent becomes as many times larger, or smaller, as the elements become smaller, or
    larger; its elements must then follow each other in memory, and fill whole new ones.

    Raises:
        ShapeError: they do not.
        DTypeError: truth values, which are the bytes 0 and 1, are to be made of other elements.
        ExchangeError: the backend cannot.
    """
    data, backend = x._tensor, x.backend
    if dtype is data.dtype:
        return x.detach()
    if dtype is bool_:
        raise DTypeError(
            f"the bytes of {data.dtype.name} are no truth values: compare them, as in x != 0."
        )
    layout = _reinterpreted_layout(data.layout, dtype)
    storage = backend.reinterpreted(data.storage, dtype)
    return Tensor._make(data.reinterpreted(storage, layout), backend)


def _reinterpreted_layout(layout: Layout, dtype: DType) -> Layout:
    old, new = layout.dtype.itemsize, dtype.itemsize
    shape, strides, offset = layout.shape, layout.strides, layout.offset
    if old == new:
        return layout_of(dtype, shape, strides, offset)
    what = f"to be viewed as {dtype.name}, elements of {layout.dtype.name}"
    if not shape or strides[-1] != 1:
        raise ShapeError(
            f"{what} must follow each other along a last dimension; shape {shape} and strides "
            f"{strides} were given. Copy them in order first, as in x.contiguous()."
        )
    if new < old:
        times = old // new
        steps = tuple([stride * times for stride in strides[:-1]])
        return layout_of(dtype, (*shape[:-1], shape[-1] * times), (*steps, 1), offset * times)
    times = new // old
    if any(number % times for number in (shape[-1], offset, *strides[:-1])):
        raise ShapeError(
            f"{what} must come in groups of {times}; shape {shape}, strides {strides} and offset "
            f"{offset} were given."
        )
    steps = tuple([stride // times for stride in strides[:-1]])
    return layout_of(dtype, (*shape[:-1], shape[-1] // times), (*steps, 1), offset // times)


def squeeze_dims(x: Any, dims: tuple[int, ...]) -> Tensor:
    """Drop dimensions of extent 1."""
    return View.apply(x, tuple([extent for d, extent in enumerate(x.shape) if d not in dims]))


def resolve_shape(shape: Sequence[int], size: int) -> Shape:
    """Return `shape` with -1 replaced by what makes it hold `size` elements.

    Raises:
        ShapeError: no number does, or more than one extent is -1.
    """
    given = tuple(shape)
    if given == (-1,):
        return (size,)
    if -1 not in given and size_of(given) == size and min(given, default=0) >= 0:
        return given
    known = size_of(extent for extent in given if extent != -1)
    if given.count(-1) > 1 or any(extent < -1 for extent in given):
        raise ShapeError(f"shape {given} may hold a single -1, and no other negative number.")
    if -1 in given:
        if known == 0 or size % known:
            raise ShapeError(f"{size} element(s) do not fit shape {given} for any value of -1.")
        return tuple(size // known if extent == -1 else extent for extent in given)
    if known != size:
        raise ShapeError(f"{size} element(s) do not fit shape {given}, which holds {known}.")
    return given


def existing_dim(name: str, dim: int, shape: Shape) -> int:
    """Return `dim` counted from the front.

    Raises:
        IndexingError: the tensor does not have it, or has no dimensions at all.
        TypeError: it is no integer.
    """
    if not shape:
        raise IndexingError(f"{name}() needs a tensor with at least one dimension.")
    return normalize_dim(dim, len(shape))


@method
def view(self: Tensor, *shape: Any, size: Any = None, dtype: DType | None = None) -> Tensor:
    """Return the same elements in another shape, sharing memory; one extent may be -1.

    `x.view(dtype)` shows the same memory as elements of another type, bit for bit: see
    `reinterpreted`.

    Raises:
        ShapeError: the number of elements differs, or the strides would need a copy.
        DTypeError: truth values are to be made of other elements.
        TypeError: a shape and a type are given.
    """
    if size is not None and any(isinstance(x, DType) for x in (dtype, *shape)):
        raise TypeError("view() takes sizes or an element type; both were given.")
    if dtype is not None:
        return reinterpreted(self, as_dtype(dtype), *shape)
    try:
        given = as_integers(shape, size)
    except TypeError:
        if len(shape) != 1 or not isinstance(shape[0], DType):
            raise
        return reinterpreted(self, shape[0])
    return View.apply(self, resolve_shape(given, self.numel()))


@method
def reshape(self: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """Return the same elements in another shape, copying only if it must be.

    Raises:
        ShapeError: the number of elements differs.
    """
    return reshaped(self, resolve_shape(as_integers(sizes, shape), self.numel()))


@method
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from `start_dim` to `end_dim` into one; return self if it is one."""
    start, end = normalize_dim(start_dim, self.ndim), normalize_dim(end_dim, self.ndim)
    if start > end:
        raise ShapeError(f"flatten() from dimension {start_dim} to {end_dim} runs backwards.")
    if start == end and self.ndim:
        return self
    merged = size_of(self.shape[start : end + 1])
    return reshaped(self, (*self.shape[:start], merged, *self.shape[end + 1 :]))


@method
def permute(self: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """Return a view with the dimensions in another order."""
    given = as_integers(order, dims)
    return Permute.apply(self, tuple(normalize_dim(d, self.ndim) for d in given))


@method
def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions exchanged."""
    order = list(range(self.ndim))
    first, second = normalize_dim(dim0, self.ndim), normalize_dim(dim1, self.ndim)
    if self.ndim:
        order[first], order[second] = order[second], order[first]
    return Permute.apply(self, tuple(order))


@attribute
def T(self: Tensor) -> Tensor:  # noqa: N802 - torch's name
    """The view with all dimensions in reverse order."""
    return Permute.apply(self, tuple(range(self.ndim))[::-1])


@attribute
def mT(self: Tensor) -> Tensor:  # noqa: N802 - torch's name
    """The view with the last two dimensions exchanged."""
    return self.transpose(-2, -1)


@method
def expand(self: Tensor, *shape: Any, size: Any = None) -> Tensor:
    """Return a view in which extents of 1 are repeated; -1 keeps an extent."""
    given = as_integers(shape, size)
    new = len(given) - self.ndim
    resolved = given
    if -1 in given:
        resolved = tuple(
            self.shape[d - new] if extent == -1 and d >= new else extent
            for d, extent in enumerate(given)
        )
    if resolved and min(resolved) < 0:
        raise ShapeError(f"expand() was given {tuple(given)} for shape {self.shape}.")
    return Expand.apply(self, resolved)


@method
def broadcast_to(self: Tensor, *shape: Any, size: Any = None) -> Tensor:
    """Return a view of another shape in which extents of 1 are repeated."""
    return self.expand(*shape, size=size)


@method
def squeeze(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Drop dimensions of extent 1: all of them, or those named that are."""
    normal = normalize_dims(dim, self.ndim)
    return squeeze_dims(self, tuple([d for d in normal if self.shape[d] == 1]))


@method
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """Return a view with a new dimension of extent 1 before `dim`."""
    d = normalize_dim(dim, self.ndim + 1)
    return View.apply(self, (*self.shape[:d], 1, *self.shape[d:]))


@method
def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a view of `length` elements along `dim`; `start` may count from the end.

    Raises:
        IndexingError: it would reach beyond the tensor.
    """
    d = existing_dim("narrow", dim, self.shape)
    start, length = as_integer("start", start), as_integer("length", length)
    if -self.shape[d] <= start < 0:
        start += self.shape[d]
    if start < 0 or length < 0 or start + length > self.shape[d]:
        raise IndexingError(
            f"narrow() of {length} element(s) from {start} on does not lie in dimension "
            f"{dim} with {self.shape[d]}."
        )
    return self[(slice(None),) * d + (slice(start, start + length),)]


@method
def flip(self: Tensor, *axes: Any, dims: Any = None) -> Tensor:
    """Return a copy with the order of elements reversed in some dimensions."""
    reverse = normalize_dims(as_integers(axes, dims), self.ndim)
    steps = tuple(slice(None, None, -1 if d in reverse else 1) for d in range(self.ndim))
    return self[steps].clone()


@method
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return windows of `size` elements, `step` apart, as a new last dimension.

    Raises:
        ShapeError: the window is longer than the dimension, or `step` is not positive.
    """
    d = existing_dim("unfold", dimension, self.shape)
    size, step = as_integer("size", size), as_integer("step", step)
    if not 0 <= size <= self.shape[d] or step < 1:
        raise ShapeError(
            f"unfold() takes a size from 0 to {self.shape[d]} and a positive step; "
            f"{size} and {step} were given."
        )
    return Unfold.apply(self, d, size, step)
