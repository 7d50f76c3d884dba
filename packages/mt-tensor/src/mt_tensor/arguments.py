"""What functions ask of their arguments: each question here once, with one error and one wording.

Numbers are asked for in `dtypes.as_number`, tensors in `recording.function.require_tensors`.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from mt_tensor.dtypes import DType, bool_
from mt_tensor.errors import DomainError, DTypeError
from mt_tensor.strides import is_integer

if TYPE_CHECKING:
    from mt_tensor.tensor_base import TensorBase


def as_integer(name: str, value: Any, least: int | None = None) -> int:
    """Return an argument that is an integer, Python's or NumPy's or a tensor's, as Python's.

    Raises:
        TypeError: it is something else.
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


def check_flags(**flags: Any) -> None:
    """Raise TypeError unless all of these settings are True or False."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} is True or False; {value!r} was given.")


def check_choice(name: str, value: Any, options: Iterable[Any]) -> None:
    """Raise DomainError unless a value is one of the options that there are; no array is."""
    options = dict.fromkeys(options)
    if not isinstance(value, Hashable) or value not in options:
        raise DomainError(f"{name} is one of {', '.join(map(repr, options))}; {value!r} was given.")


def check_floating(name: str, of: TensorBase | DType) -> None:
    """Raise DTypeError unless the elements of a tensor, or of a type, are floating-point."""
    dtype = of if isinstance(of, DType) else of.dtype
    if not dtype.is_floating_point:
        raise DTypeError(
            f"{name}() needs floating-point elements; {dtype.name} was given. Convert with "
            "x.float()."
        )


def check_not_bool(name: str, of: TensorBase | DType, instead: str = "") -> None:
    """Raise DTypeError if the elements of a tensor, or of a type, are truth values."""
    dtype = of if isinstance(of, DType) else of.dtype
    if dtype is bool_:
        raise DTypeError(
            f"{name}() is not defined on bool tensors: {instead or 'convert with x.to(...) first'}."
        )
