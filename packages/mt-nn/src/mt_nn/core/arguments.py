"""What functions of networks ask of their arguments before anything else.

Here begin the functions: what layers compute, without parameters of their own. What is annotated as
a tensor must be one, and a flag or a number as well. `checked` is around all functions that users
call, so that none of those below has to look itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np

from mt_nn.core.errors import SettingTypeError
from mt_tensor import Tensor
from mt_tensor.extending import BLOCKS, check_same_dtype, in_precision, require_tensors

P = ParamSpec("P")
R = TypeVar("R")

_NONE = type(None)
_FLAGS = (bool, np.bool_)
_NUMBERS = (int, float, np.number, Tensor)

_KINDS: dict[str, tuple[str, Any]] = {
    "Tensor": ("a tensor", Tensor),
    "Tensor | None": ("a tensor or None", (Tensor, _NONE)),
    "bool": ("True or False", _FLAGS),
    "bool | None": ("True, False or None", (*_FLAGS, _NONE)),
    "int": ("an integer", (int, np.integer, Tensor)),
    "float": ("a number", _NUMBERS),
    "float | None": ("a number or None", (*_NUMBERS, _NONE)),
}
"""What can be passed, by the annotation of a parameter; other annotations are left to functions."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that takes nothing but tensors, flags and numbers where it says so.

    Raises:
        TypeError: when it is called: something is no tensor and should be one.
        SettingTypeError: something is no flag or no number and should be one.
    """
    parameters = inspect.signature(function).parameters
    names = list(parameters)
    kinds = [_KINDS.get(p.annotation, ("anything", object))[1] for p in parameters.values()]
    by_name = dict(zip(names, kinds, strict=True))

    def refuse(name: str, value: Any) -> None:
        annotation = parameters[name].annotation
        if "Tensor" in annotation:
            require_tensors(function.__name__, value)
        wanted = _KINDS[annotation][0]
        raise SettingTypeError(f"{function.__name__}() takes {wanted} as {name}; got {value!r}.")

    @functools.wraps(function)
    def operation(*args: P.args, **kwargs: P.kwargs) -> R:
        for number, (value, kind) in enumerate(zip(args, kinds)):  # noqa: B905 - some are missing
            if not isinstance(value, kind):
                refuse(names[number], value)
        for name, value in kwargs.items():
            if not isinstance(value, by_name.get(name, object)):
                refuse(name, value)
        if BLOCKS.count:
            return cast("R", in_precision(function.__name__, function, args, kwargs))
        return function(*args, **kwargs)

    operation.__module__ = "mt_nn.functional"  # where pickle finds it
    return operation


def over_dimensions(
    function: Callable[Concatenate[int, P], R],
) -> tuple[Callable[P, R], Callable[P, R], Callable[P, R]]:
    """Return a function for signals, one for images and one for volumes, all of them `checked`.

    They are called like the one that is given, with "1d", "2d" and "3d" behind.

    Args:
        function: what they do; it takes the number of dimensions first.
    """

    def over(dims: int) -> Callable[P, R]:
        one: Any = functools.partial(function, dims)
        one.__name__ = one.__qualname__ = f"{function.__name__}{dims}d"
        one.__doc__ = function.__doc__
        return checked(one)

    return over(1), over(2), over(3)


def check_one_dtype(name: str, first: Tensor, *others: Tensor | None) -> None:
    """Raise DTypeError unless all tensors have the dtype of the first; torch promotes none here."""
    dtype = first._tensor.layout.dtype
    for other in others:
        if other is not None and other._tensor.layout.dtype is not dtype:
            check_same_dtype(name, first, other)
