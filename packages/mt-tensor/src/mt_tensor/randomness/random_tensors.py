"""Random tensors, from one generator for all backends: a seed gives the same numbers on each.

Real numbers are drawn where the tensors are, as `continuous.py` has it. Integers and orders are
drawn on the host, by NumPy: how many random bits each of them takes depends on those bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import as_integer, check_floating
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.conversion import cast
from mt_tensor.core.creation import Placement, dtype_or_default, from_values, new_shape, rand
from mt_tensor.core.dtypes import DType, as_dtype, as_number, float64, int64
from mt_tensor.core.generator import Generator, drawing
from mt_tensor.core.operands import common_backend
from mt_tensor.core.registry import Backend, Device, place
from mt_tensor.core.strides import Shape, shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation.from_tensors import Options, after
from mt_tensor.errors import DomainError, ShapeError
from mt_tensor.randomness.continuous import between, standard_normal
from mt_tensor.randomness.sampling import check_deviation, whole_values

_Generator = Generator | None


def _placed(
    draw: Callable[[TensorBackend], Tensor],
    backend: Backend = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return what is drawn on the backend that options choose; see `Placement`."""
    drawn = draw(place(backend, device))
    return drawn if requires_grad is False else drawn.requires_grad_(requires_grad)


def _floats(name: str, dtype: Any) -> DType:
    kind = dtype_or_default(dtype)
    check_floating(name, kind)
    return kind


def _shape(name: str, size: Any) -> Shape:
    if not isinstance(size, Sequence):
        raise ShapeError(f"{name}() takes its shape as one sequence; size={size!r} was given.")
    return new_shape(tuple(size))


# --- Evenly distributed -------------------------------------------------------------------------


@validate_call
def rand_like(input: Tensor, *, generator: _Generator = None, **options: Unpack[Options]) -> Tensor:
    """Return what `rand` does, by default of the shape, type and backend of `input`."""
    return rand(input.shape, generator=generator, **after(input, options))


def uniform(
    low: float,
    high: float,
    size: Sequence[int],
    generator: _Generator = None,
    dtype: Any = None,
    **options: Unpack[Placement],
) -> Tensor:
    """Return numbers drawn evenly from `low` (included) to `high` (excluded).

    Raises:
        DomainError: `low` is above `high`, or their distance is not finite.
        ShapeError: `size` is not a sequence of non-negative integers.
        DTypeError: the element type is not floating-point.
    """
    low, high = as_number("low", low), as_number("high", high)
    kind, shape = _floats("uniform", dtype), _shape("uniform", size)
    return _placed(lambda home: between(generator, shape, low, high, kind, home), **options)


def randint(
    low: int | None = None,
    high: Any = None,
    size: Any = None,
    dtype: Any = None,
    generator: _Generator = None,
    **options: Unpack[Placement],
) -> Tensor:
    """Return integers drawn evenly from `low` (included) to `high` (excluded).

    `randint(high, size)` begins at 0, as in torch.

    Args:
        low: the lowest integer; 0 if it is left out.
        high: one more than the highest integer.
        size: the shape, as one sequence.
        dtype: the element type, by default int64; it may be a floating-point one.
        generator: where the random numbers come from.
        **options: `backend` or `device`, and `requires_grad`; see `Placement`.

    Raises:
        DomainError: there is no integer from `low` to below `high`.
        TypeError: a bound is no integer.
        DTypeError: the integers do not fit the element type.
        ShapeError: `size` is not a sequence of non-negative integers.
    """
    if size is None:  # randint(10, (2, 3))
        low, high, size = 0, low, high
    elif high is None:  # randint(10, size=(2, 3))
        low, high = 0, low
    low = 0 if low is None else low
    first, last = as_integer("low", low), as_integer("high", high) - 1
    if last < first:
        raise DomainError(f"randint() needs low < high; {low} and {high} were given.")
    shape, kind = _shape("randint", size), int64 if dtype is None else as_dtype(dtype)
    for extreme in (first, last):
        (int64 if kind.kind == "float" else kind).checked(extreme)
    if kind.kind == "bool" and not 0 <= first <= last <= 1:
        raise DomainError(f"truth values are 0 and 1; {low} and {high} were given as bounds.")
    return from_values(whole_values(generator, shape, first, last), kind, **options)


@validate_call
def randint_like(
    input: Tensor,
    low: int,
    high: int | None = None,
    *,
    generator: _Generator = None,
    **options: Unpack[Options],
) -> Tensor:
    """Return what `randint` does, by default of the shape, type and backend of `input`."""
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, input.shape, generator=generator, **after(input, options))


def randperm(
    n: int, generator: _Generator = None, dtype: Any = None, **options: Unpack[Placement]
) -> Tensor:
    """Return the integers from 0 to n - 1 in random order, by default as int64.

    Raises:
        ShapeError: `n` is negative or no integer.
        DTypeError: n - 1 does not fit the element type.
    """
    (count,) = new_shape(([n],))
    kind = int64 if dtype is None else as_dtype(dtype)
    if count:
        kind.checked(count - 1)
    with drawing(generator) as numbers:
        order = numbers.permutation(count)
    return from_values(order, kind, **options)


# --- Normally distributed -----------------------------------------------------------------------


def randn(
    *sizes: Any,
    size: Any = None,
    generator: _Generator = None,
    dtype: Any = None,
    **options: Unpack[Placement],
) -> Tensor:
    """Return numbers from the normal distribution with mean 0 and variance 1.

    Raises:
        ShapeError: a size is negative.
        DTypeError: the element type is not floating-point.
    """
    kind, shape = _floats("randn", dtype), new_shape(sizes, size)
    return _placed(lambda home: standard_normal(generator, shape, home, kind), **options)


@validate_call
def randn_like(
    input: Tensor, *, generator: _Generator = None, **options: Unpack[Options]
) -> Tensor:
    """Return what `randn` does, by default of the shape, type and backend of `input`."""
    return randn(input.shape, generator=generator, **after(input, options))


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: _Generator = None,
    dtype: Any = None,
    **options: Unpack[Placement],
) -> Tensor:
    """Return numbers from normal distributions.

    Args:
        mean: their means: a number, or a tensor with one for each number drawn.
        std: their standard deviations, likewise; tensors are broadcast together.
        size: the shape, as one sequence, if neither is a tensor. The result has the element type
            and backend of the tensors, and no history.
        generator: where the random numbers come from.
        dtype: the element type without tensors, by default float32.
        **options: `backend` or `device`, and `requires_grad`; see `Placement`.

    Raises:
        DomainError: a standard deviation is negative.
        DTypeError: the element type is not floating-point.
        TypeError: both a tensor and `size`, or neither, were given.
    """
    tensors = [value for value in (mean, std) if isinstance(value, Tensor)]
    settings = (dtype, options.get("backend"), options.get("device"))
    chosen = any(setting is not None for setting in settings)
    if bool(tensors) == (size is not None) or (tensors and chosen):
        raise TypeError(
            "normal() takes either tensors, which set shape, dtype and backend, or two numbers "
            "and size."
        )
    kind = _floats("normal", tensors[0].dtype if tensors else dtype)
    means, deviations = (_parameter("mean", mean), _parameter("std", std))
    check_deviation(std)
    if tensors:
        common_backend(*tensors)
        home = tensors[0].backend
        shape = shape_broadcast(*(getattr(each, "shape", ()) for each in (means, deviations)))
        return cast(standard_normal(generator, shape, home) * deviations + means, kind)
    shape = _shape("normal", size)
    return _placed(
        lambda home: cast(standard_normal(generator, shape, home) * deviations + means, kind),
        **options,
    )


def _parameter(label: str, value: Any) -> Tensor | float:
    """Return means or deviations, in the precision that numbers are drawn in."""
    if not isinstance(value, Tensor):
        return float(as_number(label, value))
    check_floating("normal", value)
    return cast(value.detach(), float64)
