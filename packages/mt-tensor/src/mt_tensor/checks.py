"""What functions of the library ask of their arguments, beside what all functions ask."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

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
