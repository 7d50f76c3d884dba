"""How far elements lie from their mean, and vary together: variances and covariances."""

from __future__ import annotations

import math
from typing import Any

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import check_floating, check_not_bool
from mt_tensor.core.dtypes import as_number, get_default_dtype, promote_types
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.strides import size_of
from mt_tensor.core.sums import Dims, Mean, Sum, fold, mean, reduced_dims
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import squeeze_dims
from mt_tensor.errors import DomainError, DTypeError, ShapeError
from mt_tensor.reductions.roots import root
from mt_tensor.reductions.sums import wide


def _settled(
    name: str, dim: Any, unbiased: bool | None, correction: float | None
) -> tuple[Dims, float]:
    """Return the dimensions and the correction that a call means; `x.var(False)` names no dim."""
    if isinstance(dim, bool):
        if unbiased is not None:
            raise TypeError(f"{name}() was given {dim!r} as dimension; a dimension is an integer.")
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(f"{name}() takes either unbiased= or correction=, not both.")
    if not isinstance(unbiased, bool | None):
        raise TypeError(
            f"unbiased must be True or False in {name}(); {unbiased!r} was given. Pass numbers as "
            "correction=."
        )
    if correction is not None:
        if isinstance(correction, bool):
            raise TypeError(f"correction must be a number in {name}(); {correction!r} was given.")
        return dim, as_number("correction", correction)
    return dim, 0 if unbiased is False else 1


def _deviations(x: Tensor, dims: tuple[int, ...]) -> Tensor:
    return x - Mean.apply(x, dims, True)


def _variance(name: str, x: Tensor, dim: Dims, correction: float, keepdim: bool) -> Tensor:
    """Return the variance, in float32 at least."""
    check_floating(name, x)
    dims = reduced_dims(dim, x.ndim, keepdim)
    freedom = size_of([x.shape[d] for d in dims]) - correction
    squares = _deviations(wide(x), dims).square()
    return Sum.apply(squares, dims, keepdim) / max(0, freedom)


def _deviation(name: str, input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Tensor:
    """Return the root of the variance, in units in which no square leaves the range."""
    check_floating(name, input)
    dims = reduced_dims(dim, input.ndim, keepdim)
    if input.numel() == 0:
        return root(_variance(name, input, dims, correction, keepdim)).to(input.dtype)
    x = wide(input)
    size = fold("maximum", elementwise("abs", _deviations(x.detach(), dims)), dims)
    unit = elementwise("where", (size > 0.0) & (size < math.inf), size, 1.0)
    shares = root(_variance(name, x / unit, dims, correction, True)) * unit
    return (shares if keepdim else squeeze_dims(shares, dims)).to(input.dtype)


@validate_call
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the variance over dimensions: squared deviations over `n - correction`.

    Args:
        input: a tensor of floating-point numbers.
        dim: one dimension or several; None and () for all. A bool is taken as `unbiased`.
        unbiased: False means a correction of 0, True one of 1.
        keepdim: whether the dimensions stay, with size 1.
        correction: what is subtracted from the number of elements, 1 by default. Where nothing
            remains the variance is nan or inf.

    Raises:
        DTypeError: the elements are no floating-point numbers.
        IndexingError: a dimension does not exist or is named twice.
        TypeError: both `unbiased` and `correction` are given, or one is of another kind.
    """
    dim, correction = _settled("var", dim, unbiased, correction)
    return _variance("var", input, dim, correction, keepdim).to(input.dtype)


@validate_call
def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the standard deviation over dimensions: the square root of the variance.

    Its gradient where the deviation is 0 is 0, as in torch. Arguments and errors are those of
    `var`.
    """
    dim, correction = _settled("std", dim, unbiased, correction)
    return _deviation("std", input, dim, correction, keepdim)


@validate_call
def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return variance and mean over dimensions; arguments and errors are those of `var`."""
    dim, correction = _settled("var_mean", dim, unbiased, correction)
    variance = _variance("var_mean", input, dim, correction, keepdim)
    return variance.to(input.dtype), mean(input, dim, keepdim)


@validate_call
def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return standard deviation and mean over dimensions; arguments and errors: see `var`."""
    dim, correction = _settled("std_mean", dim, unbiased, correction)
    deviation = _deviation("std_mean", input, dim, correction, keepdim)
    return deviation, mean(input, dim, keepdim)


# --- How variables vary together ----------------------------------------------------------------


@validate_call
def cov(
    input: Tensor,
    *,
    correction: float = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariances of variables: the mean products of deviations from their means.

    Args:
        input: a variable in each row, an observation in each column; or one variable, 1-D or 0-D.
            Integers are computed as `get_default_dtype()`.
        correction: what is subtracted from the number of observations to divide by.
        fweights: integers: how often each observation was made.
        aweights: floating-point numbers: how much each counts.

    Returns:
        A symmetric matrix; of one variable its variance, 0-D. Its dtype is that of the variables,
        promoted with that of `aweights`.

    Raises:
        ShapeError: `input` has more than two dimensions, or there is not one weight for each
            observation.
        DTypeError: `input` is bool, or weights are of another kind.
        DomainError: a weight is negative, or they add up to zero.
    """
    check_not_bool("cov", input)
    correction = as_number("correction", correction)
    if input.ndim > 2:
        raise ShapeError(f"cov() takes up to two dimensions; shape {input.shape} was given.")
    x = input if input.dtype.is_floating_point else input.to(get_default_dtype())
    x = x if x.ndim == 2 else x.reshape(1, -1)
    if aweights is not None:
        require_tensors("cov", aweights)
        x = x.to(promote_types(x.dtype, aweights.dtype))
    kinds = ("fweights", fweights, "integer"), ("aweights", aweights, "float")
    weights = [_weights(label, x, given, kind) for label, given, kind in kinds if given is not None]
    if not weights:
        centered = x - mean(x, 1, True)
        products = centered @ centered.T
        freedom: Any = max(x.shape[1] - correction, 0)
    else:
        weight = weights[0] * weights[1] if len(weights) == 2 else weights[0]
        total = weight.sum()
        if not total.item():
            raise DomainError("the weights of cov() add up to zero, by which nothing is divided.")
        centered = x - (x * weight).sum(1, keepdim=True) / total
        products = (centered * weight) @ centered.T
        lost = total if aweights is None else (weight * weights[-1]).sum()
        freedom = elementwise("maximum", total - correction * (lost / total), 0)
    covariances: Tensor = (products / freedom).to(x.dtype)
    return covariances.squeeze()


def _weights(label: str, x: Tensor, weights: Tensor, kind: str) -> Tensor:
    """Return weights in the dtype of what they weigh."""
    require_tensors("cov", weights)
    common_backend(x, weights)
    if weights.shape != (x.shape[1],):
        raise ShapeError(
            f"cov() takes {label} of shape ({x.shape[1]},); {weights.shape} was given."
        )
    if weights.dtype.kind != kind:
        raise DTypeError(f"cov() takes {label} of kind {kind}; {weights.dtype.name} was given.")
    if bool((weights.detach() < 0).any()):
        raise DomainError(f"cov() takes {label} that are not negative.")
    return weights.to(x.dtype)


@validate_call
def corrcoef(input: Tensor) -> Tensor:
    """Return the correlation coefficients of variables: covariances by standard deviations.

    Args:
        input: a variable in each row, an observation in each column; or one variable, 1-D or 0-D.

    Returns:
        A symmetric matrix of numbers from -1 to 1; 0-D for one variable. A variable that does not
        vary gives nan.

    Raises:
        ShapeError: `input` has more than two dimensions.
        DTypeError: `input` is bool.
    """
    together = cov(input)
    if not together.ndim:
        return together / together
    deviations = together.diagonal().sqrt()
    return (together / deviations.unsqueeze(1) / deviations).clamp(-1, 1)
