"""Elements by their place in the order: the k-th smallest, quantiles; and steps between neighbours.

Values are gathered from where they lie, so that gradients go back there.
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
    """Return the elements in order along the first dimension."""
    return sort(input, 0).values


@validate_call
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """Return the k-th smallest elements along a dimension, and the int64 indices they come from.

    Args:
        input: a tensor; a nan counts as larger than every number.
        k: the place in the order, from 1 on.
        dim: the dimension to look along.
        keepdim: whether it stays, with size 1.

    Raises:
        ShapeError: there is no k-th element.
        IndexingError: there is no such dimension.
        TypeError: `k` is no integer.
    """
    dim = normalize_dim(dim, input.ndim)
    k = as_integer("k", k)
    size = input.shape[dim] if input.ndim else 1
    if not 1 <= k <= size:
        raise ShapeError(f"kthvalue() was asked for number {k} of {size} element(s).")
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
    """Return the elements below which a share of all others lies; nan if there is a nan.

    Args:
        input: float32 or float64.
        q: the share, from 0 to 1, a number; or a 1-D tensor of the dtype of `input` with several,
            whose results lie along a new first dimension. No gradient goes to it.
        dim: the dimension to look along; None for all elements.
        keepdim: whether it stays, with size 1.
        interpolation: what to return between two elements: "linear" for a weighted mean of them,
            "midpoint" for their mean, or "lower", "higher", "nearest" for one of them.

    Raises:
        DTypeError: `input` is neither float32 nor float64, or `q` has another dtype.
        DomainError: `q` is not from 0 to 1, or there is no such interpolation.
        ShapeError: there are no elements, or `q` has several dimensions.
        IndexingError: there is no such dimension.
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
    """Return quantiles of what is not nan; nan where nothing else is.

    Arguments and errors are those of `quantile`.
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
    check_choice("interpolation", interpolation, _INTERPOLATIONS)
    shares = _shares(name, input, q)
    flat = dim is None or not input.ndim
    axis = -1 if dim is None else normalize_dim(dim, input.ndim)
    x = input.reshape(-1) if flat else input.movedim(axis, -1)
    if not x.shape[-1]:
        raise ShapeError(f"{name}() of no elements is undefined; shape {input.shape} was given.")
    missing = elementwise("ne", x, x).sum(-1, True)
    count = x.shape[-1] - missing if skip_nan else missing * 0 + x.shape[-1]
    share = input._uploaded(shares.reshape(-1, *(1,) * x.ndim))
    place = share * elementwise("maximum", count - 1, 0).to(x.dtype)
    out = _between(sort(x, -1).values, place, interpolation)  # nan comes last
    if not skip_nan:
        out = elementwise("where", missing.bool(), math.nan, out)
    out = out.squeeze(-1)
    if keepdim:
        out = out.reshape(-1, *(1,) * input.ndim) if flat else out.unsqueeze(axis + 1)
    return out if shares.ndim else out.squeeze(0)


def _between(ordered: Tensor, place: Tensor, interpolation: str) -> Tensor:
    """Return what lies at places, which have fractions, of the last dimension."""
    rounding = {"lower": "floor", "higher": "ceil", "nearest": "round"}.get(interpolation)
    if rounding:
        return _at(ordered, elementwise(rounding, place))
    low, high = elementwise("floor", place), elementwise("ceil", place)
    weight = (high - low) * 0.5 if interpolation == "midpoint" else place - low
    below, above = _at(ordered, low), _at(ordered, high)
    # Equal infinities are not subtracted from each other; other neighbours share the gradient.
    same = (below == above) & below.isinf()
    return elementwise("where", same, below, below + weight * (above - below))


def _shares(name: str, input: Tensor, q: Any) -> Any:
    """Return the shares as an array: 0-D for one, 1-D for several."""
    if isinstance(q, Tensor):
        if q.dtype is not input.dtype:
            raise DTypeError(
                f"{name}() of {input.dtype.name} takes q of that dtype; {q.dtype.name} was given."
            )
        if q.ndim > 1:
            raise ShapeError(f"{name}() takes a number or a 1-D tensor as q; got {q.shape}.")
        shares = np.array(q.backend.to_host(q._tensor))
    else:
        shares = np.asarray(as_number("q", q), input.dtype.numpy)
    if not np.all((shares >= 0) & (shares <= 1)):
        raise DomainError(f"{name}() takes q from 0 to 1; {q!r} was given.")
    return shares


def _at(ordered: Tensor, place: Tensor) -> Tensor:
    """Return the elements at places along the last dimension, for each share."""
    repeated = ordered.expand(place.shape[0], *ordered.shape)
    return repeated.gather(-1, place.to(int64).expand(*repeated.shape[:-1], 1))


# --- Differences --------------------------------------------------------------------------------


@validate_call
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Return each element less the one before it along a dimension; of bool, whether they differ.

    Args:
        input: at least one dimension.
        n: how many times.
        dim: the dimension, which becomes one shorter each time.
        prepend: what to put in front of `input` along `dim` before.
        append: what to put at its end.

    Raises:
        IndexingError: there is no such dimension.
        ShapeError: the shapes do not fit.
        DomainError: `n` is negative.
        TypeError: `n` is no integer.
    """
    dim = existing_dim("diff", dim, input.shape)
    n = as_integer("n", n, least=0)
    parts: Sequence[Any] = [part for part in (prepend, input, append) if part is not None]
    out = cat(parts, dim) if len(parts) > 1 else input
    name = "logical_xor" if out.dtype is bool_ else "sub"
    for _ in range(min(n, out.shape[dim])):  # after which nothing is left
        rest = max(out.shape[dim] - 1, 0)
        out = elementwise(
            name, out.narrow(dim, out.shape[dim] - rest, rest), out.narrow(dim, 0, rest)
        )
    return out.clone() if out is input else out
