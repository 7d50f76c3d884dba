"""Create tensors with the shape or dtype and on the backend of another tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from mt_tensor.checks import validate_call
from mt_tensor.core.creation import filled, tensor, zeros
from mt_tensor.core.dtypes import as_dtype
from mt_tensor.core.registry import as_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation.formats import memory_format
from mt_tensor.creation.from_numbers import (
    InFormat,
    empty,
    full,
    of_sizes_or_data,
    one_number,
    ones,
)


class Options(InFormat, total=False):
    """Options in which a new tensor differs from its model.

    Attributes:
        dtype: the dtype; by default that of the model.
        backend: a backend or its name; by default that of the model.
    """

    dtype: Any


def after(model: Tensor, options: Options) -> dict[str, Any]:
    """Complete options with the dtype and backend of the model."""
    if not options:
        return {"dtype": model.dtype, "backend": model.backend}
    chosen: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    backend, device = chosen.pop("backend", None), chosen.pop("device", None)
    chosen["backend"] = as_backend(backend, device, model.backend)
    chosen["dtype"] = as_dtype(chosen["dtype"]) if "dtype" in chosen else model.dtype
    if chosen.get("memory_format") is memory_format.preserve_format:
        chosen["memory_format"] = model._tensor.layout
    return chosen


@validate_call
def empty_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Return an uninitialized tensor with the shape of `input`; options as for `full_like`."""
    return empty(input.shape, **after(input, options))


@validate_call
def full_like(input: Tensor, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """Return a constant tensor with the shape and, by default, dtype and backend of `input`.

    Args:
        input: a tensor of the shape.
        fill_value: a number, or a tensor of one element.
        **options: another `dtype`, `backend` or `device`, and `requires_grad`, as in `tensor`; and
            `memory_format`, as in `empty`.

    Raises:
        DTypeError: `fill_value` is out of the range of the dtype.
        ShapeError: `fill_value` is a tensor of another number of elements, or the memory format is
            for another number of dimensions.
        TypeError: `fill_value` is neither a number nor a tensor.
    """
    chosen = after(input, options)
    number = chosen["dtype"].checked(one_number("full_like(): fill_value", fill_value))
    return filled(input.shape, number, **chosen)


@validate_call
def zeros_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Return zeros with the shape of `input`; the options are those of `full_like`."""
    return _filled_like(input, 0, options)


@validate_call
def ones_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Return ones with the shape of `input`; the options are those of `full_like`."""
    return _filled_like(input, 1, options)


def _filled_like(input: Tensor, number: int, options: Options) -> Tensor:
    if not options:  # a fast path for optimizers, which create a tensor for each parameter
        return input._full(input._tensor.layout.shape, number)
    return filled(input.shape, number, **after(input, options))


def new(self: Tensor, *sizes_or_data: Any) -> Tensor:
    """Return a tensor of the given sizes or data, with the dtype and backend of this tensor."""
    return of_sizes_or_data("new", sizes_or_data, self.dtype, self.backend)


def new_tensor(self: Tensor, data: Any, **options: Unpack[Options]) -> Tensor:
    """Return a new tensor with a copy of `data`; see `mt_tensor.tensor`.

    The dtype and the backend are those of this tensor by default.
    """
    return tensor(data, **after(self, options))


def new_empty(self: Tensor, *sizes: Any, size: Any = None, **options: Unpack[Options]) -> Tensor:
    """Return an uninitialized tensor; see `mt_tensor.empty`.

    The dtype and the backend are those of this tensor by default.
    """
    return empty(*sizes, size=size, **after(self, options))


def new_full(
    self: Tensor, size: Sequence[int], fill_value: Any, **options: Unpack[Options]
) -> Tensor:
    """Return a tensor in which every element is `fill_value`; see `mt_tensor.full`.

    The dtype and the backend are those of this tensor by default.
    """
    return full(size, fill_value, **after(self, options))


def new_zeros(self: Tensor, *sizes: Any, size: Any = None, **options: Unpack[Options]) -> Tensor:
    """Return a tensor of zeros; see `mt_tensor.zeros`.

    The dtype and the backend are those of this tensor by default.
    """
    return zeros(*sizes, size=size, **after(self, options))


def new_ones(self: Tensor, *sizes: Any, size: Any = None, **options: Unpack[Options]) -> Tensor:
    """Return a tensor of ones; see `mt_tensor.ones`.

    The dtype and the backend are those of this tensor by default.
    """
    return ones(*sizes, size=size, **after(self, options))
