"""Checks of arguments beside those of `core/arguments.py`."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Mapping
from types import FunctionType
from typing import Any, cast

from mt_tensor.core.arguments import Function, check_flags, parameters_of, renamed
from mt_tensor.core.extensions import BLOCKS, EXTENSIONS
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.strides import Shape, normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, DTypeError, IndexingError


def existing_dim(name: str, dim: int, shape: Shape) -> int:
    """Return `dim` counted from the front.

    Raises:
        IndexingError: the tensor does not have it, or has no dimensions at all.
        TypeError: it is no integer.
    """
    if not shape:
        raise IndexingError(f"{name}() needs a tensor with at least one dimension.")
    return normalize_dim(dim, len(shape))


def check_choice(name: str, value: Any, options: Iterable[Any]) -> None:
    """Raise unless a value is one of the options that there are.

    Raises:
        DomainError: it is none of them.
        TypeError: it is of another type than all of them.
    """
    options = dict.fromkeys(options)
    if isinstance(value, Hashable) and value in options:
        return
    message = f"{name} is one of {', '.join(map(repr, options))}; {value!r} was given."
    raise DomainError(message) if type(value) in map(type, options) else TypeError(message)


def check_float32_or_float64(name: str, x: Tensor) -> None:
    """Raise DTypeError unless a tensor is of one of these types, which NumPy's LAPACK has."""
    if not x.dtype.is_floating_point or x.dtype.itemsize < 4:
        raise DTypeError(f"{name}() takes float32 or float64; {x.dtype.name} was given.")


def check_same_dtype(name: str, *tensors: Tensor) -> None:
    """Raise DTypeError unless all tensors have one dtype, where torch does not promote either."""
    kinds = dict.fromkeys(tensor.dtype.name for tensor in tensors)
    if len(kinds) > 1:
        raise DTypeError(
            f"{name}() takes tensors of one dtype; {', '.join(kinds)} were given. Convert with "
            "x.to(...)."
        )


CHECKED: dict[Any, type] = {"Tensor": Tensor, "bool": bool}
"""The annotations that `validate_call` checks, and the types that they name."""


def validate_call(function: Function) -> Function:
    """Return a function that checks its arguments, and accepts NumPy's names for them.

    Inside an `autocast` block it converts tensors, as functions under `numpy_names` do.

    Raises:
        TypeError: (the function returned) an argument annotated as `Tensor` is not a tensor, one
            annotated as `bool` is neither True nor False, or one is given by both of its names.
    """
    name, annotations = function.__name__, function.__annotations__
    parameters = parameters_of(function)
    types = {each: CHECKED.get(annotations.get(each), object) for each in parameters}
    positional = cast("FunctionType", function).__code__.co_argcount
    in_order = tuple(types.values())[:positional]

    @functools.wraps(function)
    def called(*args: Any, **settings: Any) -> Any:
        for value, kind in zip(args, in_order):  # noqa: B905 - the rest has defaults
            if not isinstance(value, kind):
                _check(name, zip(parameters, args, strict=False), types)
        if settings:
            settings = renamed(settings, name, parameters)
            _check(name, settings.items(), types)
        if BLOCKS.count:
            return EXTENSIONS["call under autocast"](name, function, args, settings)
        return function(*args, **settings)

    return cast("Function", called)


def _check(name: str, arguments: Iterable[tuple[str, Any]], types: Mapping[str, type]) -> None:
    """Raise TypeError unless all arguments have the types that are required of them."""
    for label, value in arguments:
        if types.get(label) is Tensor:
            require_tensors(name, value)
        elif types.get(label) is bool:
            check_flags(**{label: value})
