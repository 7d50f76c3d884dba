"""Losses of predicted distributions: how unlikely they make what was seen."""

from __future__ import annotations

import math
from typing import Literal

from mt_nn.core.arguments import checked
from mt_nn.core.losses import Reduction
from mt_nn.errors import InputError, SettingError
from mt_nn.losses.differences import check_floating, check_one_shape, reduce
from mt_nn.utils.settings import check, number
from mt_tensor import Tensor, full_like, fuse, xlogy
from mt_tensor.extending import as_one_call


@checked
def kl_div(
    input: Tensor,
    target: Tensor,
    *,
    reduction: Reduction | Literal["batchmean"] = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return `target * (log(target) - input)`, whose sum is the Kullback-Leibler divergence.

    Args:
        input: log-probabilities.
        target: probabilities, of the same shape.
        reduction: mean or sum over all, or none; `"batchmean"` divides the sum by the first size,
            as the divergence is defined.
        log_target: whether the targets are logarithms, too.

    Raises:
        InputError: the shapes differ, or a tensor is not floating-point.
        SettingError: there is no such reduction.
    """
    if reduction not in ("mean", "sum", "batchmean", "none"):
        raise SettingError(
            f"reduction must be 'mean', 'sum', 'batchmean' or 'none'; got {reduction!r}."
        )
    check_one_shape("kl_div", input, target)
    check_floating("kl_div", target)
    losses = _divergence_of_logs(input, target) if log_target else _divergence(input, target)
    if reduction != "batchmean":
        return reduce(losses, reduction)
    if not input.ndim:
        raise InputError("kl_div() takes a batch for 'batchmean'; a single number was given.")
    return losses.sum() / input.shape[0]


@fuse
def _divergence(input: Tensor, target: Tensor) -> Tensor:
    return xlogy(target, target) - target * input


@fuse
def _divergence_of_logs(input: Tensor, target: Tensor) -> Tensor:
    return target.exp() * (target - input)


@checked
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    *,
    eps: float = 1e-8,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return how unlikely counts are for Poisson distributions of predicted means.

    Args:
        input: means, or their logarithms.
        target: counts, of the same shape.
        log_input: whether the input is logarithms: `exp(input) - target * input`; otherwise it is
            `input - target * log(input + eps)`.
        full: whether to add the logarithm of the factorial of counts above 1, by Stirling's
            approximation `target log(target) - target + log(2 pi target) / 2`.
        eps: keeps the logarithm finite.
        reduction: mean or sum over all, or none.

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: there is no such reduction.
    """
    check("eps", eps, eps >= 0, "at least 0")
    check_one_shape("poisson_nll_loss", input, target)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        few = target <= 1
        count = target.masked_fill(few, 1.0)
        stirling = count * count.log() - count + 0.5 * (2 * math.pi * count).log()
        losses = losses + stirling.masked_fill(few, 0.0)
    return reduce(losses, reduction)


@checked
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:
    """Return how unlikely numbers are for normal distributions of predicted means and variances.

    It is `(log(var) + (input - target)^2 / var) / 2` (Nix and Weigend 1994). A variance counts as
    `eps` at least; the gradient passes as if it did not.

    Args:
        input: means.
        target: what was seen, of the same shape.
        var: variances, of the same shape, or with a last size of 1 or none, or with a single
            other size of 1; or one number for all.
        full: whether to add the constant `log(2 pi) / 2`.
        eps: added to the denominator, so that it is not 0.
        reduction: mean or sum over all, or none.

    Raises:
        InputError: shapes do not fit, a variance is negative, or the input is not floating-point.
        SettingError: there is no such reduction, `eps` is not above 0, or `var` no number.
    """
    check("eps", eps, eps > 0, "above 0")
    check_one_shape("gaussian_nll_loss", input, target)
    variance = _bounded_variance(_variance(input, var), eps)
    losses = _gaussian(input, target, variance)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduce(losses, reduction)


@fuse
def _gaussian(input: Tensor, target: Tensor, variance: Tensor) -> Tensor:
    return 0.5 * (variance.log() + (input - target).square() / variance)


@as_one_call
def _check_variance(variance: Tensor) -> None:
    if variance.numel() and (variance.detach() < 0).any():
        raise InputError("gaussian_nll_loss() takes variances from 0 on; one is negative.")


def _variance(input: Tensor, var: Tensor | float) -> Tensor:
    """Return variances, none of which is negative, of a shape that broadcasts to the input's."""
    variance = var if isinstance(var, Tensor) else full_like(input.detach(), number("var", var))
    _check_variance(variance)
    shape = input.shape
    if variance.shape == shape:
        return variance
    if variance.shape == shape[:-1]:
        return variance.unsqueeze(-1)
    pairs = zip(variance.shape, shape, strict=False)
    if variance.ndim == input.ndim and [mine for mine, whole in pairs if mine != whole] == [1]:
        return variance
    raise InputError(
        f"gaussian_nll_loss() takes variances of shape {shape}, with one size of 1, or without "
        f"the last; {variance.shape} was given."
    )


def _bounded_variance(variance: Tensor, eps: float) -> Tensor:
    """Raise variances to `eps` in value, but leave their gradients alone."""
    return variance + (variance.detach().clamp_min(eps) - variance.detach())
