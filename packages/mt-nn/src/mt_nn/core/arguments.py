"""`checked`: a decorator that checks the types of a function's arguments.

If an argument for a parameter annotated as a tensor, a bool or a number has another type, `checked`
raises an error that names the function and the argument.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from mt_nn.core.errors import SettingTypeError
from mt_tensor import Tensor
from mt_tensor.core.errors import DTypeError
from mt_tensor.core.extensions import AUTOCAST_BLOCKS, EXTENSIONS
from mt_tensor.core.operands import common_backend, require_tensors

P = ParamSpec("P")
R = TypeVar("R")

_NONE = type(None)
_FLAGS = (bool, np.bool_)
_NUMBERS = (int, float, np.number, Tensor)

_TYPES: dict[str, tuple[str, Any]] = {
    "Tensor": ("a tensor", Tensor),
    "Tensor | None": ("a tensor or None", (Tensor, _NONE)),
    "bool": ("True or False", _FLAGS),
    "bool | None": ("True, False or None", (*_FLAGS, _NONE)),
    "int": ("an integer", (int, np.integer, Tensor)),
    "float": ("a number", _NUMBERS),
    "float | None": ("a number or None", (*_NUMBERS, _NONE)),
}
"""The accepted types for each annotation; parameters with other annotations are not checked."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that it checks the types of its arguments.

    The decorated function raises TypeError for an argument that must be a tensor and is not, and
    SettingTypeError for one that must be a bool or a number and is not.
    """
    parameters = inspect.signature(function).parameters
    names = list(parameters)
    types = [_TYPES.get(p.annotation, ("anything", object))[1] for p in parameters.values()]
    by_name = dict(zip(names, types, strict=True))

    def refuse(name: str, value: Any) -> None:
        annotation = parameters[name].annotation
        if "Tensor" in annotation:
            require_tensors(function.__name__, value)
        expected = _TYPES[annotation][0]
        raise SettingTypeError(f"{function.__name__}() takes {expected} as {name}; got {value!r}.")

    @functools.wraps(function)
    def operation(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value, kind in zip(names, args, types):  # noqa: B905 - some have defaults
            if not isinstance(value, kind):
                refuse(name, value)
        for name, value in kwargs.items():
            if not isinstance(value, by_name.get(name, object)):
                refuse(name, value)
        if AUTOCAST_BLOCKS.count:  # inside autocast
            call = EXTENSIONS["call under autocast"]
            return cast("R", call(function.__name__, function, args, kwargs))
        return function(*args, **kwargs)

    return operation


def check_compatible(name: str, first: Tensor, *others: Tensor | None) -> None:
    """Check that all tensors have the dtype and the backend of the first; None is skipped.

    Raises:
        DTypeError: the dtypes differ; torch raises an error here, too.
        BackendMismatchError: the backends differ.
    """
    dtype, backend = first._tensor.layout.dtype, first.backend
    for other in others:
        if other is not None:
            if other._tensor.layout.dtype is not dtype:
                raise DTypeError(
                    f"{name}() takes tensors of one dtype; {dtype.name}, {other.dtype.name} were "
                    "given. Convert with x.to(...)."
                )
            if other.backend is not backend:
                common_backend(first, other)
