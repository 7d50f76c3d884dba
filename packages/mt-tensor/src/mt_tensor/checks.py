"""Argument checks for operations outside the core; see also `core/arguments.py`."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Mapping
from types import FunctionType
from typing import Any, cast

from mt_tensor.core.arguments import (
    Function,
    as_integer,
    check_addressable,
    check_flags,
    parameters_of,
    renamed,
)
from mt_tensor.core.dtypes import bool_
from mt_tensor.core.extensions import AUTOCAST_BLOCKS, EXTENSIONS
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import Shape, normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, DTypeError, IndexingError, ShapeError


def existing_dim(name: str, dim: int, shape: Shape) -> int:
    """Normalize a dimension of a tensor that must not be 0-D.

    Raises:
        IndexingError: the dimension is out of range, or the tensor is 0-D.
        TypeError: the dimension is not an integer.
    """
    if not shape:
        raise IndexingError(f"{name}() needs at least one dimension; a 0-D tensor was given.")
    return normalize_dim(dim, len(shape))


def check_dimensions(name: str, ndim: int, input: Tensor) -> None:
    """Raise ShapeError if a tensor has fewer than `ndim` dimensions."""
    if input.ndim < ndim:
        raise ShapeError(
            f"{name}() needs at least {ndim} dimension(s); shape {input.shape} was given."
        )


def check_mask(name: str, mask: Tensor) -> None:
    """Raise DTypeError unless a mask is bool."""
    if mask.dtype is not bool_:
        raise DTypeError(
            f"{name}() takes a bool mask; {mask.dtype.name} was given. Compare first, as in x > 0."
        )


def checked_length(name: str, label: str, value: Any) -> int:
    """Return the length of a new 1-D tensor.

    Raises:
        ShapeError: it is negative or too large.
        TypeError: it is not an integer.
    """
    length = as_integer(f"{name}(): {label}", value)
    if length < 0:
        raise ShapeError(f"{name}() takes a non-negative {label}; {length} was given.")
    check_addressable((length,))
    return length


def check_choice(name: str, label: str, value: Any, options: Iterable[Any]) -> None:
    """Check that an argument is one of several options.

    Args:
        name: the function that the user called.
        label: the argument.
        value: the value that was given.
        options: the allowed values.

    Raises:
        DomainError: the value is not an option.
        TypeError: the value does not have the type of any option.
    """
    options = dict.fromkeys(options)
    if isinstance(value, Hashable) and value in options:
        return
    choices = ", ".join(map(repr, options))
    message = f"{name}(): {label} must be one of {choices}; {value!r} was given."
    raise DomainError(message) if type(value) in map(type, options) else TypeError(message)


def check_float32_or_float64(name: str, x: Tensor) -> None:
    """Raise DTypeError unless a tensor has one of the dtypes that NumPy's LAPACK supports."""
    if not x.dtype.is_floating_point or x.dtype.itemsize < 4:
        raise DTypeError(f"{name}() takes float32 or float64; {x.dtype.name} was given.")


def check_same_dtype(name: str, *tensors: Tensor) -> None:
    """Raise DTypeError unless all tensors have one dtype, for functions that do not promote."""
    kinds = dict.fromkeys(tensor.dtype.name for tensor in tensors)
    if len(kinds) > 1:
        raise DTypeError(
            f"{name}() takes tensors of one dtype; {', '.join(kinds)} were given. Convert with "
            "x.to(...)."
        )


CHECKED: dict[Any, type] = {"Tensor": Tensor, "bool": bool}
"""The annotations that `validate_call` checks, and their types."""


def validate_call(function: Function) -> Function:
    """Decorate a function to check its arguments annotated as `Tensor` or `bool`.

    Like `numpy_names`, the decorated function also accepts `out` and NumPy's names, and converts
    arguments for `autocast`.

    Raises:
        TypeError: on a call, if an argument annotated as `Tensor` is not a tensor, one annotated as
            `bool` is neither True nor False, or one is given under both names.
    """
    name, annotations = function.__name__, function.__annotations__
    parameters = parameters_of(function)
    types = {each: CHECKED.get(annotations.get(each), object) for each in parameters}
    positional = cast("FunctionType", function).__code__.co_argcount
    in_order = list(types.values())[:positional]
    while in_order and in_order[-1] is object:
        in_order.pop()

    @functools.wraps(function)
    def called(*args: Any, **settings: Any) -> Any:
        for value, kind in zip(args, in_order):  # noqa: B905 - the rest is not checked
            if not isinstance(value, kind):
                _check(name, zip(parameters, args, strict=False), types)
        if settings:
            if "out" in settings:
                return EXTENSIONS["result in out"](name, called, args, settings)
            settings = renamed(settings, name, parameters)
            _check(name, settings.items(), types)
        if AUTOCAST_BLOCKS.count:
            return EXTENSIONS["call under autocast"](name, function, args, settings)
        return function(*args, **settings)

    return cast("Function", called)


def _check(name: str, arguments: Iterable[tuple[str, Any]], types: Mapping[str, type]) -> None:
    """Raise TypeError unless all arguments have the required types."""
    for label, value in arguments:
        if types.get(label) is Tensor:
            require_tensors(name, value)
        elif types.get(label) is bool:
            check_flags(**{f"{name}(): {label}": value})
