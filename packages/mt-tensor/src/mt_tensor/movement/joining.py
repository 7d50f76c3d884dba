"""Joining tensors along a dimension, old or new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_autodiff.core.mode import recording
from mt_tensor.checks import validate_call
from mt_tensor.core.conversion import cast
from mt_tensor.core.dtypes import result_type
from mt_tensor.core.graph import Node, record
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.subscripts import Select
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import ShapeError

NOTHING = (0,)
"""The shape that is passed over among others."""


class Cat:
    """Tensors joined along a dimension."""

    @staticmethod
    def vjp(_: Node, __: Any, ctx: Any, grad: Tensor, ___: Any) -> list[Tensor]:
        """Return the part of the gradient that belongs to each tensor; see `Rule`."""
        dim, layouts, places = ctx
        before, grads, start = (slice(None),) * dim, [], 0
        for layout, wanted in zip(layouts, places, strict=True):
            shape = layout.shape
            end = start + (0 if shape == NOTHING else shape[dim])
            if wanted:
                part = Select.apply(grad, (*before, slice(start, end)))
                grads.append(part if part._tensor.layout.shape == shape else part.reshape(shape))
            start = end
        return grads


class Stack:
    """Tensors of one shape joined along a new dimension."""

    @staticmethod
    def vjp(_: Node, __: Any, ctx: Any, grad: Tensor, ___: Any) -> list[Tensor]:
        """Return the part of the gradient that belongs to each tensor; see `Rule`."""
        dim, places = ctx
        before = (slice(None),) * dim
        return [Select.apply(grad, (*before, i)) for i, wanted in enumerate(places) if wanted]


def _recorded(
    data: TensorData, rule: type[Cat] | type[Stack], parts: Sequence[Tensor], *settings: Any
) -> Tensor:
    """Return what was joined as a tensor, recorded if a gradient of one of the parts is wanted."""
    result = parts[0]._with(data)
    if recording.get():
        places = [part._requires_grad and part.requires_grad for part in parts]
        if True in places:
            inputs = [part.variable for part, wanted in zip(parts, places, strict=True) if wanted]
            record(result, rule, rule.__name__, inputs, (*settings, places))
    return result


def check_list(name: str, tensors: Any) -> list[Layout]:
    """Check the tensors that are to be joined, and return their layouts.

    Raises:
        TypeError: this is no list or tuple of tensors.
        ShapeError: it is empty.
        BackendMismatchError: the tensors belong to different backends.
    """
    if not isinstance(tensors, (list, tuple, Sequence)):  # in this order: the last takes longer
        raise TypeError(
            f"{name}() takes a list or tuple of tensors; one {type(tensors).__name__} was given."
        )
    if not tensors:
        raise ShapeError(f"{name}() needs at least one tensor; an empty list was given.")
    backend, layouts = getattr(tensors[0], "backend", None), []
    for tensor in tensors:
        if not isinstance(tensor, Tensor) or tensor.backend is not backend:
            require_tensors(name, *tensors)
            common_backend(*tensors)
        layouts.append(tensor._tensor.layout)
    return layouts


def _of_one_type(tensors: Sequence[Tensor], layouts: set[Layout]) -> Sequence[Tensor]:
    """Return tensors of some layouts in the dtype that they are promoted to together."""
    if len(layouts) == 1 or len({layout.dtype for layout in layouts}) == 1:
        return tensors
    dtype = result_type(*tensors)
    return [cast(tensor, dtype) for tensor in tensors]


@validate_call
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension.

    Args:
        tensors: at least one; equal shapes except in `dim`, beside which empty ones of shape (0,)
            only take part in the promotion of the dtype.
        dim: the dimension along which they follow each other.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in another dimension.
    """
    layouts = check_list("cat", tensors)
    different = dict.fromkeys(layouts)  # most are one object
    joined = [layout.shape for layout in different if layout.shape != NOTHING] or [NOTHING]
    dim = normalize_dim(dim, len(joined[0]))
    rests = {(len(shape), shape[:dim], shape[dim + 1 :]) for shape in joined}
    if len(rests) > 1 or () in joined:
        given = ", ".join(str(each.shape) for each in layouts if each.shape != NOTHING)
        raise ShapeError(
            f"cat() along dimension {dim} was given shapes {given}: they must have at least one "
            f"dimension and be equal in all others than {dim}."
        )
    parts = _of_one_type(tensors, set(different))
    views = [part._tensor for part in parts]
    if NOTHING in [layout.shape for layout in different]:
        views = [data for data in views if data.layout.shape != NOTHING] or views
    return _recorded(parts[0].backend.concatenate(views, dim), Cat, parts, dim, layouts)


@validate_call
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension.

    Raises:
        ShapeError: no tensor was given, or the shapes differ.
    """
    layouts = set(check_list("stack", tensors))
    shape = tensors[0]._tensor.layout.shape
    if len(layouts) > 1 and len({layout.shape for layout in layouts}) > 1:
        raise ShapeError(
            f"stack() was given shapes {', '.join(str(t.shape) for t in tensors)}: "
            "they must all be equal."
        )
    dim, parts = normalize_dim(dim, len(shape) + 1), _of_one_type(tensors, layouts)
    views = [part._tensor for part in parts]
    if dim == len(shape):
        views = [data.like((*shape, 1), (*data.strides, 1), data.offset) for data in views]
    # In memory, those joined along the dimension behind the new one are stacked already.
    joined = parts[0].backend.concatenate(views, dim)
    stacked = row_major((*shape[:dim], len(parts), *shape[dim:]), joined.layout.dtype)
    return _recorded(TensorData.in_rows(joined.storage, stacked), Stack, parts, dim)


concat = concatenate = cat


def shifted(x: Tensor, dim: int, first: float = 0.0) -> Tensor:
    """Return a non-empty tensor with `first` in front along `dim`, and the last element gone."""
    return preceded(x.narrow(dim, 0, x.shape[dim] - 1), dim, first)


def preceded(x: Tensor, dim: int, first: float) -> Tensor:
    """Return a tensor with `first` in front along `dim`."""
    shape = (*x.shape[:dim], 1, *x.shape[dim + 1 :])
    return cat([x._full(shape, first), x], dim)
