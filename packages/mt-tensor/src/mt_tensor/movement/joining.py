"""Join tensors along an existing or a new dimension."""

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
"""The shape that `cat` ignores next to other shapes."""


class Cat:
    """The gradient of `cat`."""

    @staticmethod
    def vjp(_: Node, __: Any, ctx: Any, grad: Tensor, ___: Any) -> list[Tensor]:
        """Return the gradients of the tensors that require grad; see `Rule`."""
        dim, layouts, requires_grad = ctx
        before, grads, start = (slice(None),) * dim, [], 0
        for layout, needed in zip(layouts, requires_grad, strict=True):
            shape = layout.shape
            end = start + (0 if shape == NOTHING else shape[dim])
            if needed:
                part = Select.apply(grad, (*before, slice(start, end)))
                grads.append(part if part._tensor.layout.shape == shape else part.reshape(shape))
            start = end
        return grads


class Stack:
    """The gradient of `stack`."""

    @staticmethod
    def vjp(_: Node, __: Any, ctx: Any, grad: Tensor, ___: Any) -> list[Tensor]:
        """Return the gradients of the tensors that require grad; see `Rule`."""
        dim, requires_grad = ctx
        before = (slice(None),) * dim
        return [
            Select.apply(grad, (*before, i)) for i, needed in enumerate(requires_grad) if needed
        ]


def _recorded(
    data: TensorData, rule: type[Cat] | type[Stack], parts: Sequence[Tensor], *settings: Any
) -> Tensor:
    """Return the joined data as a tensor, recorded if one of the parts requires grad."""
    result = parts[0]._with(data)
    if recording.get():
        requires_grad = [part._requires_grad and part.requires_grad for part in parts]
        if True in requires_grad:
            pairs = zip(parts, requires_grad, strict=True)
            inputs = [part._node or part for part, needed in pairs if needed]
            record(result, rule, rule.__name__, inputs, (*settings, requires_grad))
    return result


def check_list(name: str, tensors: Any) -> list[Layout]:
    """Check a list of tensors to join, and return their layouts.

    Raises:
        TypeError: the argument is not a sequence of tensors.
        ShapeError: the list is empty.
        BackendMismatchError: the tensors belong to different backends.
    """
    if not isinstance(tensors, (list, tuple, Sequence)):  # the check of the last is slower
        raise TypeError(
            f"{name}() takes a list or tuple of tensors; an object of type "
            f"{type(tensors).__name__} was given."
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


def _promoted(tensors: Sequence[Tensor], layouts: set[Layout]) -> Sequence[Tensor]:
    """Convert tensors with these layouts to their promoted dtype."""
    if len(layouts) == 1 or len({layout.dtype for layout in layouts}) == 1:
        return tensors
    dtype = result_type(*tensors)
    return [cast(tensor, dtype) for tensor in tensors]


@validate_call
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension.

    Args:
        tensors: at least one. The shapes are equal except in `dim`; tensors of shape (0,) are
            ignored, except for the promotion of the dtype.
        dim: the dimension.

    Raises:
        ShapeError: no tensor was given, or the shapes differ in a dimension other than `dim`.
        IndexingError: `dim` is out of range.
        TypeError: `tensors` is not a sequence of tensors.
    """
    return joined("cat", tensors, dim)


def joined(name: str, tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Join tensors along an existing dimension, for the operation `name`; see `cat`."""
    layouts = check_list(name, tensors)
    different = dict.fromkeys(layouts)  # equal layouts are usually the same object
    shapes = [layout.shape for layout in different if layout.shape != NOTHING] or [NOTHING]
    dim = normalize_dim(dim, len(shapes[0]))
    rests = {(len(shape), shape[:dim], shape[dim + 1 :]) for shape in shapes}
    if len(rests) > 1 or () in shapes:
        given = ", ".join(str(each.shape) for each in layouts if each.shape != NOTHING)
        raise ShapeError(
            f"{name}() along dimension {dim} was given shapes {given}: they must have at least one "
            f"dimension, and must be equal except in dimension {dim}."
        )
    parts = _promoted(tensors, set(different))
    views = [part._tensor for part in parts]
    if NOTHING in [layout.shape for layout in different]:
        views = [data for data in views if data.layout.shape != NOTHING] or views
    return _recorded(parts[0].backend.concatenate(views, dim), Cat, parts, dim, layouts)


@validate_call
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension.

    Raises:
        ShapeError: no tensor was given, or the shapes differ.
        IndexingError: `dim` is out of range.
        TypeError: `tensors` is not a sequence of tensors.
    """
    layouts = set(check_list("stack", tensors))
    shape = tensors[0]._tensor.layout.shape
    if len(layouts) > 1 and len({layout.shape for layout in layouts}) > 1:
        raise ShapeError(
            f"stack() was given shapes {', '.join(str(t.shape) for t in tensors)}: "
            "they must all be equal."
        )
    dim = normalize_dim(dim, len(shape) + 1)
    parts = tensors if len(layouts) == 1 else _promoted(tensors, layouts)
    views = [part._tensor for part in parts]
    if dim == len(shape):
        views = [data.like((*shape, 1), (*data.strides, 1), data.offset) for data in views]
    # Concatenating along the dimension after the new one arranges the elements as stacking does.
    joined = parts[0].backend.concatenate(views, dim)
    stacked = row_major((*shape[:dim], len(parts), *shape[dim:]), joined.layout.dtype)
    return _recorded(TensorData.of_storage(joined.storage, stacked), Stack, parts, dim)


concat = concatenate = cat


def shifted(x: Tensor, dim: int, first: float = 0.0) -> Tensor:
    """Shift the elements of a non-empty tensor by one along `dim`, with `first` in front."""
    return prepend(x.narrow(dim, 0, x.shape[dim] - 1), dim, first)


def prepend(x: Tensor, dim: int, first: float) -> Tensor:
    """Prepend `first` along `dim`."""
    shape = (*x.shape[:dim], 1, *x.shape[dim + 1 :])
    return cat([x._full(shape, first), x], dim)
