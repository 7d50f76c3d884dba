"""Losses for predicted distributions: negative log-likelihoods and divergences."""

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
        reduction: "mean", "sum", "none", or "batchmean", the sum divided by the batch size, which
            is the divergence as it is defined.
        log_target: whether the targets are log-probabilities, too.

    Raises:
        InputError: the shapes differ, a tensor is not floating-point, or the input is a scalar for
            "batchmean".
        SettingError: the reduction is invalid.
    """
    if reduction not in ("mean", "sum", "batchmean", "none"):
        raise SettingError(
            f"kl_div(): reduction must be 'mean', 'sum', 'batchmean' or 'none'; got {reduction!r}."
        )
    check_one_shape("kl_div", input, target)
    check_floating("kl_div", target)
    losses = _divergence_of_logs(input, target) if log_target else _divergence(input, target)
    if reduction != "batchmean":
        return reduce(losses, reduction)
    if not input.ndim:
        raise InputError("kl_div() takes a batch for reduction='batchmean'; shape () was given.")
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
    """Return the negative log-likelihood of counts for Poisson distributions.

    Args:
        input: predicted means, or their logarithms.
        target: counts, of the same shape.
        log_input: whether the input contains logarithms; then the loss is
            `exp(input) - target * input`, otherwise `input - target * log(input + eps)`.
        full: whether to add the logarithm of the factorial of counts above 1, with Stirling's
            approximation `target * log(target) - target + log(2 * pi * target) / 2`.
        eps: added to the input, so that the logarithm is finite.
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: the shapes differ, or the input is not floating-point.
        SettingError: the reduction is invalid, or `eps` is negative.
    """
    check("eps", eps, eps >= 0, "at least 0")
    check_one_shape("poisson_nll_loss", input, target)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        is_small = target <= 1
        count = target.masked_fill(is_small, 1.0)
        stirling = count * count.log() - count + 0.5 * (2 * math.pi * count).log()
        losses = losses + stirling.masked_fill(is_small, 0.0)
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
    """Return the negative log-likelihood of values for normal distributions.

    It is `(log(var) + (input - target)**2 / var) / 2` (Nix and Weigend 1994). Variances are clamped
    to at least `eps`, without an effect on the gradient.

    Args:
        input: predicted means, floating-point, any shape.
        target: observed values, of the same shape.
        var: predicted variances, of the same shape, without the last dimension, or with one size of
            1; or one number for all.
        full: whether to add the constant `log(2 * pi) / 2`.
        eps: the smallest variance.
        reduction: "mean", "sum" or "none".

    Raises:
        InputError: a shape is invalid, a variance is negative, or the input is not floating-point.
        SettingError: the reduction is invalid, `eps` is not positive, or `var` is not a number.
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
        raise InputError("gaussian_nll_loss() takes non-negative variances; one is negative.")


def _variance(input: Tensor, var: Tensor | float) -> Tensor:
    """Check variances, and return them in a shape that broadcasts to the shape of the input."""
    variance = var if isinstance(var, Tensor) else full_like(input.detach(), number("var", var))
    _check_variance(variance)
    shape = input.shape
    if variance.shape == shape:
        return variance
    if variance.shape == shape[:-1]:
        return variance.unsqueeze(-1)
    pairs = zip(variance.shape, shape, strict=False)
    if variance.ndim == input.ndim and [size for size, other in pairs if size != other] == [1]:
        return variance
    raise InputError(
        f"gaussian_nll_loss() takes variances of shape {shape}, with one size of 1, or without "
        f"the last; {variance.shape} was given."
    )


def _bounded_variance(variance: Tensor, eps: float) -> Tensor:
    """Clamp variances to at least `eps`, with a gradient of 1."""
    return variance + (variance.detach().clamp_min(eps) - variance.detach())
