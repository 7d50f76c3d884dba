"""Variants of Adam with other weight decay, momentum or scaling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.adam import Adam
from mt_nn.core.optimizer import moving_average, settings_among
from mt_nn.optim.formula import (
    AdamLike,
    Group,
    State,
    Values,
    adam_denominator,
    update_averages,
    weights,
)
from mt_tensor import Tensor, maximum


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2).

    Parameters are multiplied by `1 - lr * weight_decay` before the step, so that the decay does not
    depend on the size of gradients. Otherwise, and in its arguments, it is like `Adam`.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, **settings_among(locals()), decoupled_weight_decay=True)


class Adamax(AdamLike):
    """Adam scaled by the largest recent gradient (Kingma and Ba 2015, algorithm 2).

    At step t, with gradient `g`: `m = b1 * m + (1 - b1) * g`, `u = max(b2 * u, |g| + eps)`, and the
    parameter moves by `-lr / (1 - b1**t) * m / u`.

    Args:
        params: parameters or groups.
        lr: the learning rate, non-negative.
        betas: the decay rates of the average and of the maximum, in [0, 1).
        eps: added to the denominator, so that it is not 0.
        weight_decay: the weight decay coefficient.
        foreach: accepted for compatibility with torch, without effect.
        maximize: whether to step along the gradient instead of against it.
        differentiable, capturable: must be False.
    """

    stored = ("exp_avg", "exp_inf")
    lr: float | Tensor = 2e-3
    foreach: bool | None = None

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the bias-corrected rate, and the weights of the average and the maximum."""
        beta1, beta2 = group["betas"]
        rate = group["lr"] / (1 - beta1 ** state["step"])
        return {"rate": rate, **weights(beta1), "kept_largest": beta2, "eps": group["eps"]}

    @staticmethod
    def formula(v: Values) -> None:
        """Compute a step with the formula of the class."""
        v.exp_avg = moving_average(v.exp_avg, v.grad, v.beta, v.one_minus_beta)
        v.exp_inf = maximum(v.exp_inf * v.kept_largest, v.grad.abs() + v.eps)
        v.x = v.x - v.rate * v.exp_avg / v.exp_inf


class NAdam(AdamLike):
    """Adam with Nesterov momentum (Dozat 2016).

    At step t, Adam's first average `m` has the weight `mu[t+1] / (1 - mu[1] * ... * mu[t+1])`, and
    the gradient `(1 - mu[t]) / (1 - mu[1] * ... * mu[t])`, where `d` is `momentum_decay` and
    `mu[t] = b1 * (1 - 0.96**(t * d) / 2)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, non-negative.
        betas: the decay rates of the two averages, in [0, 1).
        eps: added to the denominator, so that it is not 0.
        weight_decay: the weight decay coefficient.
        momentum_decay: the speed with which `mu` approaches the first beta.
        decoupled_weight_decay: whether to decay parameters as in `AdamW`.
        foreach: accepted for compatibility with torch, without effect.
        maximize: whether to step along the gradient instead of against it.
        capturable, differentiable: must be False.
    """

    lr: float | Tensor = 2e-3
    momentum_decay: float = 4e-3
    decoupled_weight_decay: bool = False

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the step count, both averages, and the running product of `mu`."""
        return {**super().initial_state(parameter, group), "mu_product": 1.0}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rates of gradient and average; update the running product of `mu`."""
        step, lr, (beta1, _) = state["step"], group["lr"], group["betas"]
        mu, next_mu = (
            beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1)
        )
        state["mu_product"] *= mu
        return {
            "rate_of_grad": lr * (1 - mu) / (1 - state["mu_product"]),
            "rate_of_mean": lr * next_mu / (1 - state["mu_product"] * next_mu),
            **super().numbers(state, group),
        }

    @staticmethod
    def formula(v: Values) -> None:
        """Compute a step with the formula of the class."""
        update_averages(v)
        direction = v.grad * v.rate_of_grad + v.exp_avg * v.rate_of_mean
        v.x = v.x - direction / adam_denominator(v)


class RAdam(AdamLike):
    """Adam that scales steps only when the second average is reliable (Liu et al. 2020).

    With `r = 2 / (1 - b2) - 1` and `s = r - 2 * t * b2**t / (1 - b2**t)`, the length of the average
    at step t, a step is Adam's times `sqrt((s - 4) * (s - 2) * r / ((r - 4) * (r - 2) * s))` if `s`
    is above 5, and `-lr * m / (1 - b1**t)` otherwise.

    Args:
        params: parameters or groups.
        lr: the learning rate, non-negative.
        betas: the decay rates of the two averages, in [0, 1).
        eps: added to the denominator, so that it is not 0.
        weight_decay: the weight decay coefficient.
        decoupled_weight_decay: whether to decay parameters as in `AdamW`.
        foreach: accepted for compatibility with torch, without effect.
        maximize: whether to step along the gradient instead of against it.
        capturable, differentiable: must be False.
    """

    decoupled_weight_decay: bool = False

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate and the numbers of the averages; no eps for an unscaled step."""
        step, (beta1, beta2) = state["step"], group["betas"]
        rate, correction = group["lr"] / (1 - beta1**step), 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / correction
        numbers = super().numbers(state, group)
        if length > 5:
            product = (length - 4) * (length - 2) * longest
            rate *= (product / ((longest - 4) * (longest - 2) * length) * correction) ** 0.5
        else:
            del numbers["eps"]
        return {"rate": rate, **numbers}

    @staticmethod
    def formula(v: Values) -> None:
        """Compute a step with the formula of the class."""
        update_averages(v)
        step = v.rate * v.exp_avg
        v.x = v.x - (step / (v.exp_avg_sq.sqrt() + v.eps) if hasattr(v, "eps") else step)
