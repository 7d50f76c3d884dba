"""The dtypes of tensors, and type promotion.

Names and rules are torch's. Floating-point dtypes take precedence over integers, and integers over
bool, whatever their sizes; within a category, the larger dtype wins; a Python number only affects
the category. float16 and bfloat16 promote to float32. uint16, uint32 and uint64 are not promoted
with other integers, since no dtype holds both uint64 and int64.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mt_tensor.core.errors import DTypeError

if TYPE_CHECKING:
    import numpy.typing as npt  # slow to import

Array: TypeAlias = "npt.NDArray[Any]"
"""A NumPy array of any dtype."""

Kind = Literal["bool", "integer", "float"]
Number = bool | int | float


class NumberLike:
    """Base of numbers that a compiled program recomputes at each run (`programs/`)."""

    __slots__ = ()

    def as_tensor_like(self, tensor: Any) -> Any:
        """Return the number as a tensor of the backend and dtype of `tensor`."""
        raise NotImplementedError

    def later(self, function: Any, *arguments: Any) -> Any:
        """Return a placeholder for `function(number, *arguments)`, computed at each run."""
        raise NotImplementedError


class Settings(dict[str, Any]):
    """A dictionary with numbers that a compiled program may recompute at each run."""

    __slots__ = ()


_NUMBERS = (bool, int, float)  # `isinstance` is faster with a tuple
_ALL_NUMBERS = (*_NUMBERS, NumberLike)

_KINDS: dict[str, Kind] = {
    "b": "bool",
    "i": "integer",
    "u": "integer",
    "f": "float",
    "V": "float",  # bfloat16 is stored as raw bytes
}


class DType:
    """The data type of the elements of a tensor.

    Attributes:
        name: torch's name, such as "float32".
        kind: the category, "bool", "integer" or "float".
        numpy: the NumPy dtype; two raw bytes for bfloat16, which NumPy does not have.
        itemsize: bytes per element.
        computed: the dtype of computations: float32 for float16 and bfloat16, else this dtype.
        is_narrow: whether this is float16 or bfloat16.
        is_floating_point: whether the dtype is floating-point.
        lowest, highest: the range of integers, 0 and 1 for bool; infinite for floats.
        rank: the rank of the category in promotion: 0, 1 or 2.
    """

    __slots__ = (
        *("computed", "highest", "is_floating_point", "is_narrow", "itemsize", "kind", "lowest"),
        *("name", "numpy", "rank"),
    )

    def __init__(self, name: str, numpy: str = "", computed: DType | None = None) -> None:
        self.name = name
        self.numpy: np.dtype[Any] = np.dtype(numpy or name)
        self.computed = computed or self
        self.is_narrow = computed is not None
        self.itemsize = self.numpy.itemsize
        self.kind = _KINDS[self.numpy.kind]
        self.is_floating_point = self.kind == "float"
        self.rank = ("bool", "integer", "float").index(self.kind)
        self.lowest: Any = -math.inf
        self.highest: Any = math.inf
        if not self.is_floating_point:
            bits = 1 if self.kind == "bool" else 8 * self.itemsize - self.is_signed
            self.lowest, self.highest = -(1 << bits) if self.is_signed else 0, (1 << bits) - 1

    @property
    def is_signed(self) -> bool:
        """Whether the dtype can represent negative numbers."""
        return self.kind == "float" or self.name.startswith("int")

    def convert(self, value: Number) -> Number:
        """Convert a number: integers wrap around (nan and infinity become 0), floats stay exact."""
        if self.kind == "bool":
            return value != 0
        if self.kind == "float":
            return float(value)
        integer = int(value) if -math.inf < value < math.inf else 0
        wrapped: int = (integer - self.lowest) % (1 << 8 * self.itemsize) + self.lowest
        return wrapped

    def checked(self, value: Any) -> Number:
        """Convert a number, checking its range.

        Raises:
            DTypeError: the number is out of range.
            TypeError: the argument is not a number.
        """
        value = as_number("an element", value)
        if self.kind != "integer":
            return self.convert(value)
        if not self.lowest <= value <= self.highest:  # nan fails both
            raise DTypeError(
                f"{value} is out of range for {self.name}, which holds integers from "
                f"{self.lowest} to {self.highest}."
            )
        return int(value)

    def __repr__(self) -> str:
        """Return the qualified name, such as "mt_tensor.float32"."""
        return f"mt_tensor.{self.name}"

    def __reduce__(self) -> str:
        """Pickle as a reference to the module-level constant, to keep its identity."""
        return "bool_" if self.name == "bool" else self.name


float32 = DType("float32")
float16 = DType("float16", computed=float32)
bfloat16 = DType("bfloat16", "V2", float32)
float64 = DType("float64")
int8, int16, int32, int64 = map(DType, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(DType, ("uint8", "uint16", "uint32", "uint64"))
bool_ = DType("bool")

DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        *(float16, bfloat16, float32, float64),
        *(int8, int16, int32, int64, uint8, uint16, uint32, uint64),
        bool_,
    )
}
"""All dtypes by name."""

_UNPROMOTED = {uint16, uint32, uint64}
"""Dtypes that are not promoted with other integers or with bool."""

_BY_NUMPY = {dtype.numpy: dtype for dtype in DTYPES.values() if dtype is not bfloat16}
_NAMED: dict[Any, DType] = {**DTYPES, **_BY_NUMPY, float: float32}

DEFAULT = [float32]
"""The dtype of new tensors, of Python floats, and of real functions of integers such as `sqrt`."""


def get_default_dtype() -> DType:
    """Return the default floating-point dtype."""
    return DEFAULT[0]


def as_dtype(value: Any) -> DType:
    """Return the DType for a DType, its name, a NumPy dtype or a Python type.

    Raises:
        DTypeError: tensors have no such dtype.
    """
    if isinstance(value, DType):
        return value
    try:
        if value is None:  # NumPy would return float64
            raise TypeError
        return _NAMED.get(value) or _BY_NUMPY[np.dtype(value).newbyteorder("=")]
    except (TypeError, ValueError, KeyError):
        raise DTypeError(
            f"unsupported dtype {value!r}; choose one of {', '.join(DTYPES)}."
        ) from None


def plain(value: Any) -> Any:
    """Convert a NumPy scalar to a Python number; return anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def as_number(name: str, value: Any) -> Number:
    """Convert a number of Python or NumPy, or a 0-D tensor without grad, to a Python number.

    Raises:
        TypeError: the value is none of these.
    """
    if getattr(value, "ndim", None) == 0 and not getattr(value, "requires_grad", False):
        value = value.item()
    if not isinstance(value, _ALL_NUMBERS):
        given = f"{value!r} of type {type(value).__name__}"
        raise TypeError(f"{name} must be a number; {given} was given.")
    number: Number = value  # type: ignore[assignment]  # or a NumberLike
    return number


def type_of_number(value: Number) -> DType:
    """Return the dtype of a tensor made from a plain Python number."""
    if isinstance(value, bool):
        return bool_
    return int64 if isinstance(value, int) else DEFAULT[0]


def promote_types(a: DType, b: DType) -> DType:
    """Return the smallest dtype of the higher category that holds both.

    Raises:
        DTypeError: an argument is not a dtype, or is uint16, uint32 or uint64 while the other is
            another integer dtype or bool.
    """
    if a is b:
        return a
    a, b = as_dtype(a), as_dtype(b)
    if a is not b and not _UNPROMOTED.isdisjoint((a, b)) and "float" not in (a.kind, b.kind):
        raise DTypeError(
            f"{a.name} and {b.name} are not promoted to a common type, as in torch: convert one of "
            "the two, as in x.long()."
        )
    if a.kind == b.kind:
        if bfloat16 in (a, b):
            a, b = a.computed, b.computed
        return _BY_NUMPY[np.promote_types(a.numpy, b.numpy)]
    return a if a.rank > b.rank else b


def result_type(*operands: Any) -> DType:
    """Return the dtype in which an operation on these operands is computed.

    Args:
        *operands: tensors and Python numbers. Tensors with dimensions take precedence;
            0-dimensional tensors, and then numbers, only count if their category is higher.

    Raises:
        DTypeError: operands that count have no common dtype; see `promote_types`.
    """
    groups: list[DType | None] = [None, None, None]
    for operand in operands:
        if isinstance(getattr(operand, "dtype", None), DType):
            group, dtype = (0 if operand.shape else 1), operand.dtype
        else:
            if not isinstance(operand, _NUMBERS):
                operand = as_number("an operand that is not a tensor", operand)  # noqa: PLW2901
            group, dtype = 2, type_of_number(operand)
        known = groups[group]
        groups[group] = dtype if known is None else promote_types(known, dtype)
    result: DType | None = None
    for decided in groups:
        if decided is not None and (result is None or decided.rank > result.rank):
            result = decided if result is None else promote_types(result, decided)
    return result or DEFAULT[0]
