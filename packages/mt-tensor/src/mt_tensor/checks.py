"""What functions of the library ask of their arguments, beside what all functions ask."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from typing import Any

from mt_tensor.core.strides import Shape, is_integer, normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, DTypeError, IndexingError


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
