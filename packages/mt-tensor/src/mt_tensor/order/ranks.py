"""Order statistics (k-th smallest, quantiles), and differences of consecutive elements.

Values are gathered by their index, so that gradients reach the selected elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_tensor.checks import check_choice, check_float32_or_float64, existing_dim, validate_call
from mt_tensor.core.arguments import as_integer
from mt_tensor.core.dtypes import as_number, bool_, int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.strides import normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, DTypeError, ShapeError
from mt_tensor.indexing.selection import ValuesAndIndices
from mt_tensor.movement.joining import cat
from mt_tensor.order.sorting import sort


@validate_call
def msort(input: Tensor) -> Tensor:
    """Return the elements sorted in ascending order along dimension 0."""
    return sort(input, 0).values


@validate_call
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """Return the k-th smallest elements along a dimension, and their int64 indices.

    Args:
        input: a tensor; nan is greater than every number.
        k: the rank, counted from 1.
        dim: the dimension.
        keepdim: whether to keep the reduced dimension, with size 1.

    Returns:
        The named tuple `(values, indices)`.

    Raises:
        ShapeError: `k` is not between 1 and the size of the dimension.
        IndexingError: `dim` is out of range.
        TypeError: `k` is not an integer.
    """
    dim = normalize_dim(dim, input.ndim)
    k = as_integer("kthvalue(): k", k)
    size = input.shape[dim] if input.ndim else 1
    if not 1 <= k <= size:
        raise ShapeError(
            f"kthvalue() of {size} element(s) needs k from 1 to {size}; {k} was given."
        )
    ordered = sort(input, dim)
    if not input.ndim:
        return ordered
    found = ValuesAndIndices(*[x.narrow(dim, k - 1, 1) for x in ordered])
    return found if keepdim else ValuesAndIndices(*[x.squeeze(dim) for x in found])


# --- Quantiles ----------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@validate_call
def quantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return quantiles along a dimension; nan if there is a nan.

    Args:
        input: float32 or float64.
        q: the fraction, a number from 0 to 1; or a 1-D tensor of fractions in the dtype of `input`,
            which adds a first dimension to the result. It gets no gradient.
        dim: the dimension; None for all elements.
        keepdim: whether to keep the reduced dimension, with size 1.
        interpolation: the result between two elements: "linear" for a weighted mean of them,
            "midpoint" for their mean, or "lower", "higher", "nearest" for one of them.

    Raises:
        DTypeError: `input` is neither float32 nor float64, or `q` has another dtype.
        DomainError: `q` is not from 0 to 1, or `interpolation` has another value.
        ShapeError: there are no elements, or `q` has more than one dimension.
        IndexingError: `dim` is out of range.
        TypeError: `q` is neither a number nor a tensor.
    """
    return _quantile("quantile", False, input, q, dim, keepdim, interpolation)


@validate_call
def nanquantile(
    input: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return quantiles of the elements that are not nan; nan if all are.

    Arguments and errors as for `quantile`.
    """
    return _quantile("nanquantile", True, input, q, dim, keepdim, interpolation)


def _quantile(
    name: str,
    skip_nan: bool,
    input: Tensor,
    q: Any,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
) -> Tensor:
    check_float32_or_float64(name, input)
    check_choice(name, "interpolation", interpolation, _INTERPOLATIONS)
    fractions = _checked_fractions(name, input, q)
    flat = dim is None or not input.ndim
    axis = -1 if dim is None else normalize_dim(dim, input.ndim)
    x = input.reshape(-1) if flat else input.movedim(axis, -1)
    if not x.shape[-1]:
        raise ShapeError(f"{name}() of no elements is undefined; shape {input.shape} was given.")
    missing = elementwise("ne", x, x).sum(-1, True)
    count = x.shape[-1] - missing if skip_nan else missing * 0 + x.shape[-1]
    fraction = input._uploaded(fractions.reshape(-1, *(1,) * x.ndim))
    position = fraction * elementwise("maximum", count - 1, 0).to(x.dtype)
    out = _interpolated(sort(x, -1).values, position, interpolation)  # nan is last
    if not skip_nan:
        out = elementwise("where", missing.bool(), math.nan, out)
    out = out.squeeze(-1)
    if keepdim:
        out = out.reshape(-1, *(1,) * input.ndim) if flat else out.unsqueeze(axis + 1)
    return out if fractions.ndim else out.squeeze(0)


def _interpolated(ordered: Tensor, position: Tensor, interpolation: str) -> Tensor:
    """Interpolate between elements at fractional positions along the last dimension."""
    rounding = {"lower": "floor", "higher": "ceil", "nearest": "round"}.get(interpolation)
    if rounding:
        return _at(ordered, elementwise(rounding, position))
    low, high = elementwise("floor", position), elementwise("ceil", position)
    weight = (high - low) * 0.5 if interpolation == "midpoint" else position - low
    lower, upper = _at(ordered, low), _at(ordered, high)
    # The difference of equal infinities would be nan.
    same = (lower == upper) & lower.isinf()
    return elementwise("where", same, lower, lower + weight * (upper - lower))


def _checked_fractions(name: str, input: Tensor, q: Any) -> Any:
    """Return the fractions as an array, 0-D for a number and 1-D for a 1-D tensor."""
    if isinstance(q, Tensor):
        if q.dtype is not input.dtype:
            raise DTypeError(
                f"{name}() takes q of dtype {input.dtype.name}, like input; {q.dtype.name} was "
                "given."
            )
        if q.ndim > 1:
            raise ShapeError(
                f"{name}() takes a number or a 1-D tensor as q; shape {q.shape} was given."
            )
        fractions = np.array(q.backend.to_host(q._tensor))
    else:
        fractions = np.asarray(as_number(f"{name}(): q", q), input.dtype.numpy)
    if not np.all((fractions >= 0) & (fractions <= 1)):
        raise DomainError(f"{name}() takes q from 0 to 1; {q!r} was given.")
    return fractions


def _at(ordered: Tensor, index: Tensor) -> Tensor:
    """Return the elements at indices along the last dimension, for each fraction."""
    repeated = ordered.expand(index.shape[0], *ordered.shape)
    return repeated.gather(-1, index.to(int64).expand(*repeated.shape[:-1], 1))


# --- Differences --------------------------------------------------------------------------------


@validate_call
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Return the differences of consecutive elements along a dimension.

    The difference of bools is whether they differ.

    Args:
        input: a tensor of at least one dimension.
        n: the number of times to take differences.
        dim: the dimension, whose size decreases by `n`.
        prepend: a tensor to prepend along `dim` first.
        append: a tensor to append along `dim` first.

    Raises:
        IndexingError: `dim` is out of range.
        ShapeError: the shapes cannot be concatenated.
        DomainError: `n` is negative.
        TypeError: `n` is not an integer.
    """
    dim = existing_dim("diff", dim, input.shape)
    n = as_integer("diff(): n", n, minimum=0)
    parts: Sequence[Any] = [part for part in (prepend, input, append) if part is not None]
    out = cat(parts, dim) if len(parts) > 1 else input
    name = "logical_xor" if out.dtype is bool_ else "sub"
    for _ in range(min(n, out.shape[dim])):  # further differences are empty
        rest = max(out.shape[dim] - 1, 0)
        out = elementwise(
            name, out.narrow(dim, out.shape[dim] - rest, rest), out.narrow(dim, 0, rest)
        )
    return out.clone() if out is input else out
