"""Movement: operations that return another view of the same storage.

Each is a `ViewFunction`: its forward pass is arithmetic on a layout, and its gradient is another
movement operation, or a sum over repeated elements.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mt_tensor.core.arguments import as_integers, numpy_names
from mt_tensor.core.dtypes import DType
from mt_tensor.core.errors import ShapeError
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import ViewFunction
from mt_tensor.core.strides import Shape, normalize_dim, normalize_dims, size_of
from mt_tensor.core.tensor import Tensor

cache_layouts = functools.lru_cache(1024)
"""Decorate a function of layouts to cache its results: most programs use few layouts."""


class Permute(ViewFunction):
    """Permute the dimensions."""

    @staticmethod
    @cache_layouts
    def layout(layout: Layout, order: tuple[int, ...]) -> Layout:
        return layout.permuted(order)

    @staticmethod
    def backward(grad: Tensor, _: Any, order: tuple[int, ...]) -> Tensor:
        return Permute.apply(grad, tuple([order.index(d) for d in range(len(order))]))


class View(ViewFunction):
    """View the same elements in another shape."""

    @staticmethod
    @cache_layouts
    def layout(layout: Layout, shape: Shape) -> Layout:
        view = layout.viewed(shape)
        if view is None:
            raise ShapeError(
                f"a tensor of shape {layout.shape} and strides {layout.strides} cannot be viewed "
                f"as {shape} without a copy: use reshape(), or contiguous() first."
            )
        return view

    @staticmethod
    def backward(grad: Tensor, source: Any, _: Shape) -> Tensor:
        return reshaped(grad, source.shape)


class Expand(ViewFunction):
    """Expand sizes of 1, and add dimensions in front."""

    @staticmethod
    @cache_layouts
    def layout(layout: Layout, shape: Shape) -> Layout:
        return layout.expanded(shape)

    @staticmethod
    def backward(grad: Tensor, source: Any, _: Shape) -> Tensor:
        return grad.sum_to_size(source.shape)  # defined in sums.py


def reshaped(x: Tensor, shape: Shape) -> Tensor:
    """Reshape to a shape of equal size, copying only if necessary."""
    if not x.is_contiguous() and x._tensor.layout.viewed(shape) is None:
        x = x.contiguous()
    return View.apply(x, shape)


def squeeze_dims(x: Any, dims: tuple[int, ...]) -> Tensor:
    """Drop dimensions of size 1."""
    return View.apply(x, tuple([size for d, size in enumerate(x.shape) if d not in dims]))


def resolve_shape(shape: Shape, size: int) -> Shape:
    """Replace -1 in `shape` by the size that gives `size` elements in total.

    Raises:
        ShapeError: there is no such size, or more than one size is negative.
    """
    if shape == (-1,):
        return (size,)
    if -1 not in shape and size_of(shape) == size and min(shape, default=0) >= 0:
        return shape
    known = size_of(each for each in shape if each != -1)
    if shape.count(-1) == 1 and known > 0 and size % known == 0 and min(shape) == -1:
        return tuple([size // known if each == -1 else each for each in shape])
    raise ShapeError(
        f"cannot reshape {size} element(s) to {shape}: the product of the sizes must be {size}; "
        "one size may be -1, and is inferred."
    )


def view(self: Tensor, *shape: Any, size: Any = None, dtype: DType | None = None) -> Tensor:
    """Return the same elements in another shape, sharing memory; one size may be -1.

    `x.view(dtype)` reinterprets the bits of the same memory as another dtype
    (`movement/bits.py`).

    Raises:
        ShapeError: the number of elements differs, or the strides would require a copy.
        DTypeError: another dtype cannot be reinterpreted as bool.
        TypeError: both a shape and a dtype were given.
    """
    if dtype is not None or (shape and shape[0].__class__ is DType):
        return self._reinterpreted(*shape, size=size, dtype=dtype)
    return View.apply(self, resolve_shape(as_integers(shape, size), self.numel()))


def reshape(self: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """Return the same elements in another shape, copying only if necessary.

    Raises:
        ShapeError: the number of elements differs.
    """
    return reshaped(self, resolve_shape(as_integers(sizes, shape), self.numel()))


def permute(self: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """Return a view with the dimensions in another order."""
    named = as_integers(order, dims)
    return Permute.apply(self, tuple(normalize_dim(d, self.ndim) for d in named))


def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return a view with two dimensions swapped."""
    order = list(range(self.ndim))
    first, second = normalize_dim(dim0, self.ndim), normalize_dim(dim1, self.ndim)
    if self.ndim:
        order[first], order[second] = order[second], order[first]
    return Permute.apply(self, tuple(order))


def T(self: Tensor) -> Tensor:  # noqa: N802 - torch's name
    """The view with all dimensions in reverse order."""
    return Permute.apply(self, tuple(range(self.ndim))[::-1])


def mT(self: Tensor) -> Tensor:  # noqa: N802 - torch's name
    """The view with the last two dimensions swapped."""
    ndim = len(self._tensor.layout.shape)
    if ndim < 2:
        return self.transpose(-2, -1)  # which raises an error
    return Permute.apply(self, (*range(ndim - 2), ndim - 1, ndim - 2))


def expand(self: Tensor, *shape: Any, size: Any = None) -> Tensor:
    """Return a view in which sizes of 1 are expanded; -1 keeps a size."""
    sizes = as_integers(shape, size)
    if -1 in sizes:
        new = len(sizes) - self.ndim
        sizes = tuple(
            self.shape[d - new] if size == -1 and d >= new else size for d, size in enumerate(sizes)
        )
    if min(sizes, default=0) < 0:
        raise ShapeError(f"expand() cannot expand shape {self.shape} to {sizes}.")
    return Expand.apply(self, sizes)


@numpy_names
def squeeze(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Drop dimensions of size 1: all of them, or those among `dim`."""
    dims = normalize_dims(dim, self.ndim)
    return squeeze_dims(self, tuple([d for d in dims if self.shape[d] == 1]))


@numpy_names
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """Return a view with a new dimension of size 1 at position `dim`."""
    shape = self._tensor.layout.shape
    d = normalize_dim(dim, len(shape) + 1)
    return View.apply(self, (*shape[:d], 1, *shape[d:]))
