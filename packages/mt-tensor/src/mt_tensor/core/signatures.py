"""Decorators for public functions: NumPy's names for arguments, checks of types, autocast.

- `@numpy_names` accepts `axis` for `dim` and `keepdims` for `keepdim`, wherever torch does.
- `@validate_call` does so too, and checks that every argument annotated as `Tensor` or `bool` is
  one.

Inside an `autocast` block both convert tensors to the dtype in which the operation is computed.
Functions that have none of these arguments, or that check theirs themselves, need no decorator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, TypeVar, cast

from mt_tensor.core.arguments import check_flags
from mt_tensor.core.extensions import BLOCKS, EXTENSIONS
from mt_tensor.core.function import require_tensors
from mt_tensor.core.tensor import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])

NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's names of arguments, and torch's."""

CHECKED: dict[Any, type] = {"Tensor": Tensor, "bool": bool}
"""The annotations that `validate_call` checks, and the types that they name."""


def numpy_names(function: Function) -> Function:
    """Return a function that also accepts `axis` for `dim` and `keepdims` for `keepdim`.

    Raises:
        TypeError: (the function returned) an argument is given by both of its names.
    """
    return _wrapped(function, dict.fromkeys(_parameters(function), object))


def validate_call(function: Function) -> Function:
    """Return a function that checks its arguments, and accepts NumPy's names for them.

    Raises:
        TypeError: (the function returned) an argument annotated as `Tensor` is no tensor, one
            annotated as `bool` is neither True nor False, or one is given by both of its names.
    """
    annotations = function.__annotations__
    return _wrapped(
        function,
        {name: CHECKED.get(annotations.get(name), object) for name in _parameters(function)},
    )


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters of a function, without `*args` and `**kwargs`."""
    code = cast("FunctionType", function).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _wrapped(function: Function, types: Mapping[str, type]) -> Function:
    """Return a function whose arguments are renamed, checked and converted for `autocast`.

    Args:
        function: what is called with the arguments.
        types: the type that each argument must have, `object` for any.
    """
    name, positional = function.__name__, cast("FunctionType", function).__code__.co_argcount
    parameters = tuple(types)
    unchecked = {*types.values()} <= {object}
    in_order = () if unchecked else tuple(types.values())[:positional]

    @functools.wraps(function)
    def called(*args: Any, **settings: Any) -> Any:
        if in_order:
            for value, kind in zip(args, in_order):  # noqa: B905 - the rest has defaults
                if not isinstance(value, kind):
                    _check(name, zip(parameters, args, strict=False), types)
        if BLOCKS.count:
            return EXTENSIONS["call under autocast"](name, function, args, renamed(settings))
        if not settings:
            return function(*args)
        return function(*args, **renamed(settings))

    def renamed(settings: dict[str, Any]) -> dict[str, Any]:
        """Return keyword arguments under torch's names, checked."""
        for other, own in NUMPY.items():
            if other in settings and own in types:
                if own in settings:
                    raise TypeError(
                        f"{name}() was given {own} twice: {other} is NumPy's name for it."
                    )
                settings[own] = settings.pop(other)
        _check(name, settings.items(), types)
        return settings

    return cast("Function", called)


def _check(name: str, arguments: Iterable[tuple[str, Any]], types: Mapping[str, type]) -> None:
    """Raise TypeError unless all arguments have the types that are required of them."""
    for label, value in arguments:
        if types.get(label) is Tensor:
            require_tensors(name, value)
        elif types.get(label) is bool:
            check_flags(**{label: value})
