"""torch's layouts and memory formats: the order of the elements of a tensor in memory.

Operations return row-major tensors. With an argument `memory_format`, such as `channels_last`, the
methods `to`, `clone` and `contiguous` and the functions that create tensors return a tensor with
other strides, as in torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from mt_tensor.core.arguments import check_flags
from mt_tensor.core.errors import ShapeError
from mt_tensor.core.extensions import extends
from mt_tensor.core.layout import Layout, layout_of
from mt_tensor.core.linear import LinearFunction
from mt_tensor.core.strides import Shape, Strides
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import DomainError


class layout(Enum):  # noqa: N801 - torch's name
    """The layout of tensors: always `strided`, since sparse ones are not supported."""

    strided = "torch.strided"


class memory_format(Enum):  # noqa: N801 - torch's name
    """Orders of the elements in memory.

    `contiguous_format` is row-major, `channels_last` and `channels_last_3d` store the channels of
    an image next to each other, and `preserve_format` keeps the order of another tensor.
    """

    contiguous_format = "torch.contiguous_format"
    preserve_format = "torch.preserve_format"
    channels_last = "torch.channels_last"
    channels_last_3d = "torch.channels_last_3d"


_DIMS = {memory_format.channels_last: 4, memory_format.channels_last_3d: 5}
"""The number of dimensions that a format needs: N, C and those of an image."""


def layout_of_tensor(self: Tensor) -> layout:  # noqa: ARG001 - the same for all tensors
    """The layout of the tensor, `strided`."""
    return layout.strided


@extends("order of a memory format")
def has_format(x: Tensor, order: memory_format) -> bool:
    """Return whether the elements are in the order of a format, without gaps."""
    dims = _DIMS.get(_checked(order))
    if dims is None:
        return x.is_contiguous()
    return x.ndim == dims and x.movedim(1, -1).is_contiguous()


# --- Copies ---------------------------------------------------------------------------------------


class Arranged(LinearFunction):
    """Copy to new memory with the given strides, which leave no gaps."""

    @staticmethod
    def forward(x: Tensor, strides: Strides) -> TensorData:
        """Return the elements in new memory."""
        data, backend = x._tensor, x.backend
        shape, dtype = data.layout.shape, data.layout.dtype
        out = backend.empty(shape, dtype).with_layout(layout_of(dtype, shape, strides))
        return backend.copy(data, out)

    @staticmethod
    def backward(grad: Tensor, _: Any, __: Strides) -> Tensor:
        """Return the gradient itself."""
        return grad


@extends("copy in a memory format")
def copied(x: Tensor, order: memory_format, preserve: bool = True) -> Tensor:
    """Return a copy with the strides of a format, for `clone` and `contiguous`.

    Raises:
        ShapeError: the format is for another number of dimensions.
        DomainError: the format is `preserve_format`, and `preserve` is False.
        TypeError: `order` is not a memory format.
    """
    if not preserve and order is memory_format.preserve_format:
        raise DomainError(
            "contiguous() takes contiguous_format, channels_last or channels_last_3d; "
            "preserve_format was given. Use clone(memory_format=preserve_format)."
        )
    return Arranged.apply(x, _strides(x._tensor.layout, order, x._tensor.layout))


def in_format(x: Tensor, converted: Tensor, order: memory_format, copy: bool) -> Tensor:
    """Return the result of `to` in a memory format.

    Args:
        x: the tensor.
        converted: the tensor, converted to the dtype and moved to the backend of the result.
        order: the format.
        copy: whether the result must not be the tensor itself.
    """
    if (
        converted is x
        and not copy
        and _checked(order) in (memory_format.preserve_format, _format_of(x))
    ):
        return x
    return Arranged.apply(converted, _strides(converted._tensor.layout, order, x._tensor.layout))


@extends("options of a new tensor")
def with_options(x: Tensor, options: Mapping[str, Any]) -> Tensor:
    """Return a new tensor with options of torch.

    Args:
        x: the tensor.
        options: `pin_memory`, which has no effect; `layout`, which must be `strided`; and
            `memory_format`, or a layout whose order of dimensions the tensor gets.

    Raises:
        DomainError: the layout is not `strided`, or `preserve_format` has no model.
        ShapeError: the memory format is for another number of dimensions.
        TypeError: an option is unknown, or its type is wrong.
    """
    for name, value in options.items():
        if name == "pin_memory":
            check_flags(pin_memory=bool(value) if value is None else value)
        elif name == "layout":
            if value is not None and value is not layout.strided:
                raise DomainError(
                    f"layout= must be strided, since tensors are dense; {value} was given. Leave "
                    "out the argument."
                )
        elif name != "memory_format":
            raise TypeError(
                f"a function that creates a tensor was given an unknown argument {name!r}; besides "
                "its own arguments, it takes pin_memory, layout and memory_format."
            )
    order = options.get("memory_format")
    if order is None:
        return x
    model = order if isinstance(order, Layout) else None
    if model is not None:
        order = memory_format.preserve_format
    return Arranged.apply(x, _strides(x._tensor.layout, order, model))


# --- Strides --------------------------------------------------------------------------------------


def _checked(order: Any) -> memory_format:
    if not isinstance(order, memory_format):
        names = ", ".join(each.name for each in memory_format)
        raise TypeError(f"memory_format= takes one of {names}; {order!r} was given.")
    return order


def _strides(layout: Layout, order: memory_format, model: Layout | None) -> Strides:
    """Return the strides of a tensor in a format, without gaps.

    Args:
        layout: a layout of the shape of the tensor.
        order: the format.
        model: the layout whose strides `preserve_format` preserves, if there is one.

    Raises:
        ShapeError: the format is for another number of dimensions.
        DomainError: there is no model of this shape for `preserve_format`.
    """
    shape = layout.shape
    if _checked(order) is memory_format.preserve_format:
        if model is None or model.shape != shape:
            raise DomainError(
                "memory_format=preserve_format needs a tensor of the same shape whose order is "
                "preserved; a new one has none. Use contiguous_format or channels_last."
            )
        return _preserved(shape, model.strides)
    dims = _DIMS.get(order)
    if dims is None:
        return layout.contiguous.strides
    if len(shape) != dims:
        raise ShapeError(
            f"memory_format={order.name} needs {dims} dimensions; shape {shape} has {len(shape)}."
        )
    strides, step = [1] * dims, 1
    for dim in _inner_first(dims):
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


def _inner_first(dims: int) -> Shape:
    """Return the dimensions of images with channels last, from the innermost to the outermost."""
    return (1, *range(dims - 1, 1, -1), 0)


def _preserved(shape: Shape, strides: Strides) -> Strides:
    """Return strides without gaps whose order is that of other strides.

    Strides that leave no gaps are returned unchanged. Otherwise the dimensions are sorted as in
    torch: by insertion from the innermost one, where a stride of 0 precedes and follows any other.
    """
    strides = tuple(map(abs, strides))
    if 0 in shape:
        return strides
    expected = 1
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size > 1 and stride != expected:
            break
        expected *= size
    else:
        return strides
    order = list(reversed(range(len(shape))))
    for end in range(1, len(order)):
        right = end
        for left in range(end - 1, -1, -1):
            a, b = order[left], order[right]
            if strides[a] and strides[b] and strides[a] < strides[b]:
                break
            if strides[a] and strides[b] and (strides[a], shape[a]) > (strides[b], shape[b]):
                order[left], order[right] = b, a
                right = left
    result, step = [0] * len(shape), 1
    for dim in order:
        result[dim] = step
        step *= max(shape[dim], 1)
    return tuple(result)


def _format_of(x: Tensor) -> memory_format:
    """Return the format of a tensor, with or without gaps, as torch derives it from strides."""
    for order, dims in _DIMS.items():
        if x.ndim == dims and _are_last(x._tensor.layout.shape, x._tensor.layout.strides):
            return order
    return memory_format.contiguous_format


def _are_last(shape: Shape, strides: Strides) -> bool:
    """Return whether the channels are innermost; False if that is ambiguous for sizes of 1."""
    smallest = 0
    for dim in _inner_first(len(shape)):
        if not shape[dim] or strides[dim] < smallest or (dim == 0 and smallest == strides[1]):
            return False
        smallest = strides[dim] * shape[dim]
    return strides[1] != 0
