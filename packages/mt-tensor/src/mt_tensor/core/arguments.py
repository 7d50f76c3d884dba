"""Checks of arguments: each here once, with one error and one wording.

Users come in from here on. What they may say in several ways (sizes and dimensions) or wrongly
(settings, dtypes) is checked by the same few functions in all operations; numbers are
checked by `dtypes.as_number`.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Container, Sequence
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from mt_tensor.core.dtypes import DType, bool_
from mt_tensor.core.errors import DomainError, DTypeError, ShapeError
from mt_tensor.core.extensions import BLOCKS, EXTENSIONS
from mt_tensor.core.strides import Shape, is_integer, size_of
from mt_tensor.core.tensor_data import not_an_array

_INTEGERS = (int, np.integer)
_NO_SHAPE = "a shape is made of non-negative integers"


def as_integer(name: str, value: Any, least: int | None = None) -> int:
    """Return an integer (Python's, NumPy's or a tensor's) as Python's.

    Raises:
        TypeError: the value is no integer.
        DomainError: it is less than `least`.
    """
    if value.__class__ is not int:
        if not is_integer(value):
            raise TypeError(
                f"{name} is an integer; {value!r} of type {type(value).__name__} was given."
            )
        value = operator.index(value)
    if least is not None and value < least:
        raise DomainError(f"{name} is an integer from {least} on; {value} was given.")
    return value  # type: ignore[no-any-return]


def as_integers(values: tuple[Any, ...], named: Any = None) -> tuple[int, ...]:
    """Accept `f(2, 3)` as well as `f((2, 3))` and, by a name, `f(size=(2, 3))`.

    Raises:
        TypeError: something is no integer, or sizes were given in both ways.
    """
    sizes = _unpacked(values, named)
    for value in sizes:
        if value.__class__ is not int:
            if not is_integer(value):
                raise TypeError(f"sizes and dimensions are integers; {sizes} was given.")
            return tuple(map(operator.index, sizes))
    return sizes


def as_shape(given: tuple[Any, ...], named: Any = None) -> Shape:
    """Return the shape that sizes make, given in one of the ways of `as_integers`.

    Raises:
        ShapeError: a size is negative.
        TypeError: a size is no integer, or they were given in both ways.
    """
    sizes = _unpacked(given, named)
    convert = False
    for size in sizes:
        if size.__class__ is not int:
            convert = isinstance(size, _INTEGERS) and not isinstance(size, bool)
            if not convert:
                raise TypeError(f"{_NO_SHAPE}; {sizes} was given.")
        if size < 0:
            raise ShapeError(f"{_NO_SHAPE}; {sizes} was given.")
    return tuple(map(int, sizes)) if convert else sizes


def check_addressable(shape: Shape) -> None:
    """Raise ShapeError if tensors of a shape would have more elements than memory has places."""
    size = size_of(shape) or size_of(size or 1 for size in shape)
    if size > sys.maxsize // 8:  # elements have up to eight bytes
        raise not_an_array(shape)


def _unpacked(values: tuple[Any, ...], named: Any) -> tuple[Any, ...]:
    """Return what was given one by one, as one sequence, or by a name."""
    if named is not None:
        if values:
            raise TypeError(f"sizes or dimensions were given twice: {values} and {named!r}.")
        values = (named,)
    if len(values) != 1 or values[0].__class__ is int:
        return values
    return tuple(values[0]) if isinstance(values[0], Sequence) else values


def check_flags(**flags: Any) -> None:
    """Raise TypeError unless all of these settings are True or False."""
    for name, value in flags.items():
        if value.__class__ is not bool:
            raise TypeError(f"{name} is True or False; {value!r} was given.")


def check_floating(name: str, of: Any) -> None:
    """Raise DTypeError unless the elements of a tensor, or of a type, are floating-point."""
    dtype: DType = getattr(of, "dtype", of)
    if not dtype.is_floating_point:
        raise DTypeError(
            f"{name}() needs floating-point elements; {dtype.name} was given. Convert with "
            "x.float()."
        )


def check_not_bool(name: str, of: Any, instead: str = "") -> None:
    """Raise DTypeError if the elements of a tensor, or of a dtype, are bools."""
    dtype: DType = getattr(of, "dtype", of)
    if dtype is bool_:
        raise DTypeError(
            f"{name}() is not defined on bool tensors: {instead or 'convert with x.to(...) first'}."
        )


Function = TypeVar("Function", bound=Callable[..., Any])


NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's names of arguments, and torch's."""


def numpy_names(function: Function) -> Function:
    """Return a function that also accepts `axis` for `dim` and `keepdims` for `keepdim`.

    Raises:
        TypeError: (the function returned) an argument is given by both of its names.
    """
    name, parameters = function.__name__, parameters_of(function)

    @functools.wraps(function)
    def called(*args: Any, **settings: Any) -> Any:
        if settings:
            settings = renamed(settings, name, parameters)
        if BLOCKS.count:
            return EXTENSIONS["call under autocast"](name, function, args, settings)
        return function(*args, **settings)

    return cast("Function", called)


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters of a function, without `*args` and `**kwargs`."""
    code = cast("FunctionType", function).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def renamed(settings: dict[str, Any], name: str, parameters: Container[str]) -> dict[str, Any]:
    """Return keyword arguments of the function called `name` under torch's names.

    Raises:
        TypeError: one is given by both of its names.
    """
    for other, own in NUMPY.items():
        if other in settings and own in parameters:
            if own in settings:
                raise TypeError(f"{name}() was given {own} twice: {other} is NumPy's name for it.")
            settings[own] = settings.pop(other)
    return settings
