"""Random tensors. One generator serves all backends: a seed gives the same numbers on each.

Floating-point numbers are drawn on the backend of the tensor; see `continuous.py`. Integers and
permutations are drawn by NumPy on the host, since the number of bits that they use depends on these
bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from mt_tensor.checks import checked_length, validate_call
from mt_tensor.core.arguments import as_integer, check_floating
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.conversion import cast
from mt_tensor.core.creation import Placement, dtype_or_default, from_values, new_shape, rand
from mt_tensor.core.dtypes import DType, as_dtype, as_number, float64, int64
from mt_tensor.core.generator import Generator, drawing
from mt_tensor.core.operands import common_backend
from mt_tensor.core.registry import Backend, Device, as_backend
from mt_tensor.core.strides import Shape, shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.creation.formats import with_options
from mt_tensor.creation.from_tensors import Options, after
from mt_tensor.errors import DomainError, DTypeError, ShapeError
from mt_tensor.limits import finfo
from mt_tensor.randomness.continuous import standard_normal
from mt_tensor.randomness.sampling import check_deviation, random_integers


def _placed(
    draw: Callable[[TensorBackend], Tensor],
    backend: Backend = None,
    device: Device = None,
    requires_grad: bool = False,
    **others: Any,
) -> Tensor:
    """Draw on the backend given by the options."""
    drawn = draw(as_backend(backend, device))
    if others:
        drawn = with_options(drawn, others)
    return drawn if requires_grad is False else drawn.requires_grad_(requires_grad)


def _floats(name: str, dtype: Any) -> DType:
    kind = dtype_or_default(dtype)
    check_floating(name, kind)
    return kind


def _shape(name: str, size: Any) -> Shape:
    if not isinstance(size, Sequence):
        raise ShapeError(f"{name}() takes the shape as a sequence; size={size!r} was given.")
    return new_shape(tuple(size))


# --- Uniform distributions ----------------------------------------------------------------------


@validate_call
def rand_like(
    input: Tensor, *, generator: Generator | None = None, **options: Unpack[Options]
) -> Tensor:
    """Return random numbers, uniform in [0, 1), in the shape of `input`.

    The options are those of `full_like`.

    Raises:
        DTypeError: the dtype is not floating-point.
    """
    return rand(input.shape, generator=generator, **after(input, options))


def randint(
    low: int | None = None,
    high: Any = None,
    size: Any = None,
    dtype: Any = None,
    generator: Generator | None = None,
    **options: Unpack[Placement],
) -> Tensor:
    """Return random integers, uniformly distributed on [low, high).

    `randint(high, size)` starts from 0, as in torch.

    Args:
        low: the smallest integer; 0 by default.
        high: one more than the largest integer.
        size: the shape, as a sequence.
        dtype: the dtype, int64 by default; it may be floating-point.
        generator: the generator; the default one if None.
        **options: `backend`, `device` and `requires_grad`, as in `tensor`.

    Raises:
        DomainError: `low` is not less than `high`; or the dtype is bool, and a bound is negative or
            greater than 2.
        TypeError: a bound is not an integer.
        DTypeError: the integers are out of the range of the dtype.
        ShapeError: `size` is not a sequence of non-negative integers.
    """
    if size is None:  # randint(10, (2, 3))
        low, high, size = 0, low, high
    elif high is None:  # randint(10, size=(2, 3))
        low, high = 0, low
    low = 0 if low is None else low
    first = as_integer("randint(): low", low)
    last = as_integer("randint(): high", high) - 1
    if last < first:
        raise DomainError(f"randint() needs low < high; {low} and {high} were given.")
    shape, kind = _shape("randint", size), int64 if dtype is None else as_dtype(dtype)
    for extreme in (first, last):
        (int64 if kind.kind == "float" else kind).checked(extreme)
        if kind.kind == "float" and abs(extreme) > finfo(kind).max:
            raise DTypeError(f"randint(): {extreme} is out of range for {kind.name}.")
    if kind.kind == "bool" and not 0 <= first <= last <= 1:
        raise DomainError(
            f"randint() of bool needs bounds from 0 to 2; {low} and {high} were given."
        )
    return from_values(random_integers(generator, shape, first, last), kind, **options)


@validate_call
def randint_like(
    input: Tensor,
    low: int,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """Return random integers, uniformly distributed on [low, high), in the shape of `input`.

    `randint_like(input, high)` starts from 0. The options are those of `full_like`, and the errors
    those of `randint`.
    """
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, input.shape, generator=generator, **after(input, options))


def randperm(
    n: int, generator: Generator | None = None, dtype: Any = None, **options: Unpack[Placement]
) -> Tensor:
    """Return a random permutation of the integers from 0 to n - 1, as int64 by default.

    `generator` and the options are those of `randint`.

    Raises:
        ShapeError: `n` is negative, or the result would be too large.
        DTypeError: `n - 1` is out of the range of the dtype.
        TypeError: `n` is not an integer.
    """
    count = checked_length("randperm", "n", n)
    kind = int64 if dtype is None else as_dtype(dtype)
    if count:
        kind.checked(count - 1)
    with drawing(generator) as numbers:
        order = numbers.permutation(count)
    return from_values(order, kind, **options)


# --- Normal distributions -----------------------------------------------------------------------


def randn(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    **options: Unpack[Placement],
) -> Tensor:
    """Return numbers from the normal distribution with mean 0 and variance 1.

    The arguments are those of `rand`.

    Raises:
        ShapeError: a size is negative.
        DTypeError: the dtype is not floating-point.
    """
    kind, shape = _floats("randn", dtype), new_shape(sizes, size)
    return _placed(lambda at: standard_normal(generator, shape, at, kind), **options)


@validate_call
def randn_like(
    input: Tensor, *, generator: Generator | None = None, **options: Unpack[Options]
) -> Tensor:
    """Return standard normal random numbers in the shape of `input`.

    The options are those of `full_like`.

    Raises:
        DTypeError: the dtype is not floating-point.
    """
    return randn(input.shape, generator=generator, **after(input, options))


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    **options: Unpack[Placement],
) -> Tensor:
    """Return numbers from normal distributions.

    Args:
        mean: the mean, a number or a tensor of means.
        std: the standard deviation, a number or a tensor; tensors are broadcast.
        size: the shape, as a sequence, if neither is a tensor. Otherwise, the result has the
            broadcast shape, dtype and backend of the tensors, and is not recorded.
        generator: the generator; the default one if None.
        dtype: the dtype if neither is a tensor; by default the default dtype.
        **options: `backend`, `device` and `requires_grad`, as in `tensor`.

    Raises:
        DomainError: a standard deviation is negative.
        DTypeError: the dtype is not floating-point.
        TypeError: a tensor was given in addition to `size`, `dtype`, `backend` or `device`; or
            neither a tensor nor `size` was given.
    """
    tensors = [value for value in (mean, std) if isinstance(value, Tensor)]
    settings = (dtype, options.get("backend"), options.get("device"))
    chosen = any(setting is not None for setting in settings)
    if bool(tensors) == (size is not None) or (tensors and chosen):
        raise TypeError(
            "normal() takes either tensors, which determine shape, dtype and backend, or two "
            "numbers and size."
        )
    kind = _floats("normal", tensors[0].dtype if tensors else dtype)
    means, deviations = (_parameter("mean", mean), _parameter("std", std))
    check_deviation("normal", std)
    if tensors:
        common_backend(*tensors)
        backend = tensors[0].backend
        shape = shape_broadcast(*(getattr(each, "shape", ()) for each in (means, deviations)))
        return cast(standard_normal(generator, shape, backend) * deviations + means, kind)
    shape = _shape("normal", size)
    return _placed(
        lambda at: cast(standard_normal(generator, shape, at) * deviations + means, kind),
        **options,
    )


def _parameter(label: str, value: Any) -> Tensor | float:
    """Convert means or deviations to float64, in which numbers are drawn."""
    if not isinstance(value, Tensor):
        return float(as_number(f"normal(): {label}", value))
    check_floating("normal", value)
    return cast(value.detach(), float64)
