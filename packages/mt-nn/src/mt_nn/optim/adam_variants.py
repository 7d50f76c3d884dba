"""Variants of Adam: other weight decay, momentum, or measures of how large gradients are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY
from typing import Any

from mt_nn.core.adam import Adam
from mt_nn.core.optimizer import follow, settings_among
from mt_nn.optim import formula
from mt_nn.optim.formula import AdamLike, Group, State, Values, adam_size, move_averages
from mt_tensor import Tensor, empty_like, maximum, where


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2).

    Parameters are multiplied by `1 - lr * weight_decay` before the step, so that the decay does not
    depend on the size of gradients. See `Adam` for the rest.
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

    At step t, with gradient `g`: `m = b1 m + (1 - b1) g`, `u = max(b2 u, |g| + eps)`, and the
    parameter moves by `-lr / (1 - b1^t) * m / u`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: how slowly the average and the maximum forget, from 0 up to, but not, 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the strength of weight decay.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
        differentiable: must be False, as must `capturable`.
    """

    stored = ("exp_avg", "exp_inf")
    lr: float | Tensor = 2e-3
    foreach: bool | None = None
    _: KW_ONLY
    maximize: bool = False
    differentiable: bool = False
    capturable: bool = False

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the corrected rate, and the weights of the average and the maximum."""
        beta1, beta2 = group["betas"]
        rate = group["lr"] / (1 - beta1 ** state["step"])
        return {"rate": rate, **formula.weights(beta1), "kept_largest": beta2, "eps": group["eps"]}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        v.exp_avg = follow(v.exp_avg, v.grad, v.kept, v.taken)
        v.exp_inf = maximum(v.exp_inf * v.kept_largest, v.grad.abs() + v.eps)
        v.x = v.x - v.rate * v.exp_avg / v.exp_inf


class NAdam(AdamLike):
    """Adam with Nesterov's momentum (Dozat 2016).

    At step t, Adam's first average `m` counts `mu[t+1] / (1 - mu[1] ... mu[t+1])`, and the gradient
    `(1 - mu[t]) / (1 - mu[1] ... mu[t])`, with `mu[t] = b1 (1 - 0.96^(t momentum_decay) / 2)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: the decay rates of the two averages, from 0 up to, but not, 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the strength of weight decay.
        momentum_decay: how fast `mu` grows to the first beta.
        decoupled_weight_decay: whether parameters decay as in `AdamW`.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
        capturable, differentiable: must be False.
    """

    lr: float | Tensor = 2e-3
    momentum_decay: float = 4e-3
    decoupled_weight_decay: bool = False
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False
    capturable: bool = False
    differentiable: bool = False

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the number of steps, both averages, and the product of all `mu`."""
        return {**super().initial_state(parameter, group), "mu_product": 1.0}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rates of gradient and average, and store the product of all `mu`."""
        step, lr, (beta1, _) = state["step"], group["lr"], group["betas"]
        mu, following = (
            beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1)
        )
        state["mu_product"] *= mu
        return {
            "rate_of_grad": lr * (1 - mu) / (1 - state["mu_product"]),
            "rate_of_mean": lr * following / (1 - state["mu_product"] * following),
            **super().numbers(state, group),
        }

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        move_averages(v)
        ahead = v.grad * v.rate_of_grad + v.exp_avg * v.rate_of_mean
        v.x = v.x - ahead / adam_size(v)


class RAdam(AdamLike):
    """Adam that scales its steps once it has seen enough gradients to (Liu et al. 2020).

    With `r = 2 / (1 - b2) - 1` and `s = r - 2 t b2^t / (1 - b2^t)`, the length of the average at
    step t, a step is Adam's times `sqrt((s - 4)(s - 2) r / ((r - 4)(r - 2) s))` if `s` is above 5,
    and `-lr m / (1 - b1^t)` before.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: the decay rates of the two averages, from 0 up to, but not, 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the strength of weight decay.
        decoupled_weight_decay: whether parameters decay as in `AdamW`.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
        capturable, differentiable: must be False.
    """

    decoupled_weight_decay: bool = False
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False
    capturable: bool = False
    differentiable: bool = False

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate, and what the averages need."""
        step, (beta1, beta2) = state["step"], group["betas"]
        rate, correction = group["lr"] / (1 - beta1**step), 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / correction
        numbers = super().numbers(state, group)
        if length > 5:
            known = (length - 4) * (length - 2) * longest
            rate *= (known / ((longest - 4) * (longest - 2) * length) * correction) ** 0.5
        else:
            del numbers["eps"]
        return {"rate": rate, **numbers}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        move_averages(v)
        step = v.rate * v.exp_avg
        v.x = v.x - (step / (v.exp_avg_sq.sqrt() + v.eps) if hasattr(v, "eps") else step)


class LAMB(AdamLike):
    """LAMB (You et al. 2020, algorithm 2): each tensor's step is in proportion to its length.

    With Adam's direction `r`, whose averages are corrected, the step of a parameter `x` is
    `u = r + weight_decay x`, and it moves by `-lr * |x| / |u| * u`; by `-lr * u` if one of the
    lengths is 0.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: the decay rates of the two averages, from 0 up to, but not, 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the strength of weight decay.
        maximize: whether to step along the gradient instead.
    """

    eps: float = 1e-6
    weight_decay: float = 1e-2
    _: KW_ONLY
    maximize: bool = False

    def update(self, parameter: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Change one parameter; see the class for the formula."""
        step, averages = empty_like(parameter), {name: state[name] for name in self.stored}
        given = {"x": parameter, "grad": grad, **self.numbers(state, group)}
        formula.change(self.formula, {"step": step, **averages}, given)
        length, stride = parameter.detach().norm(), step.norm()
        trust = where((length > 0) & (stride > 0), length / stride, 1.0)
        formula.change(_move, {"x": parameter}, {"step": step, "trust": trust, "rate": group["lr"]})

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the strength of weight decay, and what the averages need."""
        correction = 1 / (1 - group["betas"][0] ** state["step"])
        numbers = super().numbers(state, group)
        return {"correction": correction, "weight_decay": group["weight_decay"], **numbers}

    @staticmethod
    def formula(v: Values) -> None:
        """Set the step before it is measured, and both averages; see the class."""
        move_averages(v)
        v.step = v.correction * v.exp_avg / adam_size(v) + v.weight_decay * v.x


def _move(v: Values) -> None:
    """Take a step that was measured."""
    v.x = v.x - v.rate * v.trust * v.step
