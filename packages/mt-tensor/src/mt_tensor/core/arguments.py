"""Argument checks that operations share: integers, sizes, dimensions, flags and dtypes.

Numbers are checked by `dtypes.as_number`.
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
from mt_tensor.core.extensions import AUTOCAST_BLOCKS, EXTENSIONS
from mt_tensor.core.strides import Shape, is_integer, size_of
from mt_tensor.core.tensor_data import not_an_array

_INTEGERS = (int, np.integer)
_SHAPE_RULE = "sizes must be non-negative integers"


def as_integer(name: str, value: Any, minimum: int | None = None) -> int:
    """Convert an integer of Python or NumPy, or an integer tensor of one element, to `int`.

    Raises:
        TypeError: the value is not an integer.
        DomainError: it is less than `minimum`.
    """
    if value.__class__ is not int:
        if not is_integer(value):
            raise TypeError(
                f"{name} must be an integer; {value!r} of type {type(value).__name__} was given."
            )
        value = operator.index(value)
    if minimum is not None and value < minimum:
        known = {0: "a non-negative integer", 1: "a positive integer"}
        expected = known.get(minimum, f"an integer of at least {minimum}")
        raise DomainError(f"{name} must be {expected}; {value} was given.")
    return value  # type: ignore[no-any-return]


def as_integers(values: tuple[Any, ...], named: Any = None) -> tuple[int, ...]:
    """Return the sizes or dimensions given as `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`.

    Raises:
        TypeError: a value is not an integer, or both positional and named values were given.
    """
    sizes = _unpacked(values, named)
    for value in sizes:
        if value.__class__ is not int:
            if not is_integer(value):
                raise TypeError(f"sizes and dimensions must be integers; {sizes} was given.")
            return tuple(map(operator.index, sizes))
    return sizes


def as_shape(given: tuple[Any, ...], named: Any = None) -> Shape:
    """Return the shape given in one of the ways that `as_integers` accepts.

    Raises:
        ShapeError: a size is negative.
        TypeError: a size is not an integer, or both positional and named sizes were given.
    """
    sizes = _unpacked(given, named)
    convert = False
    for size in sizes:
        if size.__class__ is not int:
            convert = isinstance(size, _INTEGERS) and not isinstance(size, bool)
            if not convert:
                raise TypeError(f"{_SHAPE_RULE}; {sizes} was given.")
        if size < 0:
            raise ShapeError(f"{_SHAPE_RULE}; {sizes} was given.")
    return tuple(map(int, sizes)) if convert else sizes


@functools.lru_cache(1024)
def check_addressable(shape: Shape) -> None:
    """Raise ShapeError if a tensor of this shape would exceed the address space."""
    size = size_of(shape) or size_of(size or 1 for size in shape)
    if size > sys.maxsize // 8:  # elements have up to eight bytes
        raise not_an_array(shape)


def _unpacked(values: tuple[Any, ...], named: Any) -> tuple[Any, ...]:
    """Return positional arguments, the items of a single sequence, or a named argument."""
    if named is not None:
        if values:
            raise TypeError(f"sizes or dimensions were given twice: {values} and {named!r}.")
        values = (named,)
    if len(values) != 1 or values[0].__class__ is int:
        return values
    return tuple(values[0]) if isinstance(values[0], Sequence) else values


def check_flags(**flags: Any) -> None:
    """Raise TypeError unless all keyword arguments are bools."""
    for name, value in flags.items():
        if value.__class__ is not bool:
            raise TypeError(f"{name} must be True or False; {value!r} was given.")


def check_floating(name: str, of: Any) -> None:
    """Raise `DTypeError` unless a tensor, layout or dtype is floating-point."""
    dtype: DType = getattr(of, "dtype", of)
    if not dtype.is_floating_point:
        raise DTypeError(
            f"{name}() needs floating-point elements; {dtype.name} was given. Convert with "
            "x.float()."
        )


def check_not_bool(name: str, of: Any, instead: str = "") -> None:
    """Raise DTypeError if a tensor, layout or dtype is bool."""
    dtype: DType = getattr(of, "dtype", of)
    if dtype is bool_:
        raise DTypeError(
            f"{name}() is not defined on bool tensors: {instead or 'convert with x.to(...) first'}."
        )


Function = TypeVar("Function", bound=Callable[..., Any])


NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's names of arguments, mapped to torch's."""


def numpy_names(function: Function) -> Function:
    """Decorate a function to accept `out`, and also `axis` for `dim` and `keepdims` for `keepdim`.

    Raises:
        TypeError: (the decorated function) an argument was given under both names.
    """
    name, parameters = function.__name__, parameters_of(function)

    @functools.wraps(function)
    def wrapper(*args: Any, **settings: Any) -> Any:
        if settings:
            if "out" in settings:
                return EXTENSIONS["result in out"](name, wrapper, args, settings)
            settings = renamed(settings, name, parameters)
        if AUTOCAST_BLOCKS.count:
            return EXTENSIONS["call under autocast"](name, function, args, settings)
        return function(*args, **settings)

    return cast("Function", wrapper)


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters of a function, without `*args` and `**kwargs`."""
    code = cast("FunctionType", function).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def renamed(settings: dict[str, Any], name: str, parameters: Container[str]) -> dict[str, Any]:
    """Rename keyword arguments of the function `name` from NumPy's names to torch's.

    Raises:
        TypeError: an argument was given under both names.
    """
    for other, own in NUMPY.items():
        if other in settings and own in parameters:
            if own in settings:
                raise TypeError(f"{name}() was given {own} twice: {other} is NumPy's name for it.")
            settings[own] = settings.pop(other)
    return settings
