"""Variances, standard deviations, covariances and correlations."""

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
from mt_tensor.reductions.roots import Root
from mt_tensor.reductions.sums import wide


def _parse_correction(
    name: str, dim: Any, unbiased: bool | None, correction: float | None
) -> tuple[Dims, float]:
    """Return the dimensions and the correction of a call such as `x.var(0)` or `x.var(False)`."""
    if isinstance(dim, bool):
        if unbiased is not None:
            raise TypeError(f"{name}(): dim must be an integer; {dim!r} was given.")
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(f"{name}() takes either unbiased= or correction=, not both.")
    if not isinstance(unbiased, bool | None):
        raise TypeError(
            f"{name}(): unbiased must be True or False; {unbiased!r} was given. Pass numbers as "
            "correction=."
        )
    if correction is not None:
        if isinstance(correction, bool):
            raise TypeError(f"{name}(): correction must be a number; {correction!r} was given.")
        return dim, as_number(f"{name}(): correction", correction)
    return dim, 0 if unbiased is False else 1


def _deviations(x: Tensor, dims: tuple[int, ...]) -> Tensor:
    return x - Mean.apply(x, dims, True)


def _variance(name: str, x: Tensor, dim: Dims, correction: float, keepdim: bool) -> Tensor:
    """Return the variance, at least in float32."""
    check_floating(name, x)
    dims = reduced_dims(dim, x.ndim, keepdim)
    degrees = float(size_of([x.shape[d] for d in dims]) - correction)
    squares = _deviations(wide(x), dims).square()
    return Sum.apply(squares, dims, keepdim) / max(0, degrees)


def _deviation(name: str, input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Tensor:
    """Return the square root of the variance, rescaled so that no square overflows."""
    check_floating(name, input)
    dims = reduced_dims(dim, input.ndim, keepdim)
    if input.numel() == 0:
        return Root.apply(_variance(name, input, dims, correction, keepdim)).to(input.dtype)
    x = wide(input)
    size = fold("maximum", elementwise("abs", _deviations(x.detach(), dims)), dims)
    scale = elementwise("where", (size > 0.0) & (size < math.inf), size, 1.0)
    out = Root.apply(_variance(name, x / scale, dims, correction, True)) * scale
    return (out if keepdim else squeeze_dims(out, dims)).to(input.dtype)


@validate_call
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the variance over dimensions, with the divisor `n - correction`.

    Args:
        input: a floating-point tensor.
        dim: one dimension or several; None and () for all. A bool is the argument `unbiased`.
        unbiased: False for a correction of 0, True for 1.
        keepdim: whether to keep the dimensions, with size 1.
        correction: the number to subtract from the number of elements, 1 by default. If the
            difference is not positive, the variance is nan or inf.

    Raises:
        DTypeError: `input` is not floating-point.
        IndexingError: a dimension is out of range or repeated.
        TypeError: both `unbiased` and `correction` were given, or one has the wrong type.
    """
    dim, correction = _parse_correction("var", dim, unbiased, correction)
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

    Where the deviation is 0, so is its gradient, as in torch. Arguments and errors are those of
    `var`.
    """
    dim, correction = _parse_correction("std", dim, unbiased, correction)
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
    """Return the variance and the mean over dimensions; arguments and errors as for `var`."""
    dim, correction = _parse_correction("var_mean", dim, unbiased, correction)
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
    """Return the standard deviation and the mean over dimensions; see `var`."""
    dim, correction = _parse_correction("std_mean", dim, unbiased, correction)
    deviation = _deviation("std_mean", input, dim, correction, keepdim)
    return deviation, mean(input, dim, keepdim)


# --- Covariances --------------------------------------------------------------------------------


@validate_call
def cov(
    input: Tensor,
    *,
    correction: float = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariance matrix of variables.

    Args:
        input: one variable per row and one observation per column; or a single variable, 1-D or
            0-D. Integers are converted to the default dtype.
        correction: the number to subtract from the number of observations in the divisor.
        fweights: integers, the number of times each observation was made.
        aweights: floating-point, the weight of each observation.

    Returns:
        A symmetric matrix; for a single variable its variance, 0-D. The dtype is that of `input`,
        promoted with that of `aweights`.

    Raises:
        ShapeError: `input` has more than two dimensions, or the number of weights differs from that
            of the observations.
        DTypeError: `input` is bool, or weights have the wrong dtype category.
        DomainError: a weight is negative, or their sum is zero.
    """
    _check_variables("cov", input)
    correction = as_number("cov(): correction", correction)
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
        degrees: Any = max(x.shape[1] - correction, 0)
    else:
        weight = weights[0] * weights[1] if len(weights) == 2 else weights[0]
        total = weight.sum()
        if not total.item():
            raise DomainError("the sum of the weights of cov() must not be zero.")
        centered = x - (x * weight).sum(1, keepdim=True) / total
        products = (centered * weight) @ centered.T
        correction_sum = total if aweights is None else (weight * weights[-1]).sum()
        degrees = elementwise("maximum", total - correction * (correction_sum / total), 0)
    return (products / degrees).to(x.dtype).squeeze()  # type: ignore[no-any-return]


def _check_variables(name: str, x: Tensor) -> None:
    """Check one variable, or a matrix with one per row."""
    check_not_bool(name, x)
    if x.ndim > 2:
        raise ShapeError(f"{name}() takes at most two dimensions; shape {x.shape} was given.")


def _weights(label: str, x: Tensor, weights: Tensor, kind: str) -> Tensor:
    """Check weights, and convert them to the dtype of `x`."""
    require_tensors("cov", weights)
    common_backend(x, weights)
    if weights.shape != (x.shape[1],):
        raise ShapeError(
            f"cov() takes {label} of shape ({x.shape[1]},); {weights.shape} was given."
        )
    if weights.dtype.kind != kind:
        raise DTypeError(f"cov() takes {kind} {label}; {weights.dtype.name} was given.")
    if bool((weights.detach() < 0).any()):
        raise DomainError(f"the {label} of cov() must not be negative.")
    return weights.to(x.dtype)


@validate_call
def corrcoef(input: Tensor) -> Tensor:
    """Return the correlation coefficients of variables.

    Args:
        input: one variable per row and one observation per column; or a single variable, 1-D or
            0-D.

    Returns:
        A symmetric matrix of numbers from -1 to 1; 0-D for a single variable. A constant variable
        gives nan.

    Raises:
        ShapeError: `input` has more than two dimensions.
        DTypeError: `input` is bool.
    """
    _check_variables("corrcoef", input)
    covariance = cov(input)
    if not covariance.ndim:
        return covariance / covariance
    deviations = covariance.diagonal().sqrt()
    return (covariance / deviations.unsqueeze(1) / deviations).clamp(-1, 1)
