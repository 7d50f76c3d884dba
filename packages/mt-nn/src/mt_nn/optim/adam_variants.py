"""Relatives of Adam: with Nesterov's momentum, the largest gradient, or a careful start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mt_nn.optim.averages import follow, follow_square, scaled
from mt_nn.optim.optimizer import Optimizer, decayed, with_decay
from mt_nn.optim.settings import check_betas, check_not_negative, check_switches
from mt_tensor import Tensor, fuse, maximum, zeros_like


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat 2016).

    At step t, Adam's first average `m` counts `mu[t+1] / (1 - mu[1] ... mu[t+1])`, and the gradient
    `(1 - mu[t]) / (1 - mu[1] ... mu[t])`, with `mu[t] = b1 (1 - 0.96^(t momentum_decay) / 2)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: how slowly the two averages forget, from 0 up to, but not, 1.
        eps: keeps the division finite.
        weight_decay: how strongly parameters are pulled towards zero.
        momentum_decay: how fast `mu` grows to the first beta.
        decoupled_weight_decay: whether parameters decay by themselves, as in `AdamW`.
        maximize: whether to climb along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings are what the class says."""
        check_not_negative(settings, "lr", "eps", "weight_decay", "momentum_decay")
        check_betas(settings)
        check_switches(settings, "decoupled_weight_decay", "maximize")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, the product of all `mu`, and both averages."""
        averages = {name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
        return {"step": 0, "mu_product": 1.0, **averages}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(self.initial_state(parameter, group))
        state["step"] += 1
        step, lr, (beta1, beta2) = state["step"], group["lr"], group["betas"]
        mu, following = (
            beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1)
        )
        state["mu_product"] *= mu
        decoupled = group["decoupled_weight_decay"]
        grad = with_decay(parameter, grad, lr, group["weight_decay"], decoupled)
        mean = follow(state["exp_avg"], grad, beta1)
        square = follow_square(state["exp_avg_sq"], grad, beta2)
        of_grad = (1 - mu) / (1 - state["mu_product"])
        of_mean = following / (1 - state["mu_product"] * following)
        ahead = _mixed(grad, of_grad, mean, of_mean)
        parameter.sub_(scaled(ahead, square, 1 / (1 - beta2**step), group["eps"]), alpha=lr)


@fuse
def _mixed(first: Tensor, share: float, second: Tensor, other_share: float) -> Tensor:
    return first * share + second * other_share


class Adamax(Optimizer):
    """Adam scaled by the largest recent gradient (Kingma and Ba 2015, algorithm 2).

    At step t, with gradient `g`: `m = b1 m + (1 - b1) g`, `u = max(b2 u, |g| + eps)`, and the
    parameter moves by `-lr / (1 - b1^t) * m / u`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: how slowly the average and the maximum forget, from 0 up to, but not, 1.
        eps: keeps the division finite.
        weight_decay: how strongly parameters are pulled towards zero.
        maximize: whether to climb along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings are what the class says."""
        check_not_negative(settings, "lr", "eps", "weight_decay")
        check_betas(settings)
        check_switches(settings, "maximize")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, the average and the maximum."""
        return {"step": 0, **{name: zeros_like(parameter) for name in ("exp_avg", "exp_inf")}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(self.initial_state(parameter, group))
        state["step"] += 1
        beta1, beta2 = group["betas"]
        grad = decayed(grad, parameter, group["weight_decay"])
        mean, largest = follow(state["exp_avg"], grad, beta1), state["exp_inf"]
        largest.copy_(_larger(largest, beta2, grad, group["eps"]))
        parameter.sub_(mean / largest, alpha=group["lr"] / (1 - beta1 ** state["step"]))


@fuse
def _larger(largest: Tensor, beta: float, grad: Tensor, eps: float) -> Tensor:
    found: Tensor = maximum(largest * beta, grad.abs() + eps)
    return found


class RAdam(Optimizer):
    """Adam that scales its steps once it has seen enough gradients to (Liu et al. 2020).

    With `r = 2 / (1 - b2) - 1` and `s = r - 2 t b2^t / (1 - b2^t)`, the length of the average at
    step t, a step is Adam's times `sqrt((s - 4)(s - 2) r / ((r - 4)(r - 2) s))` if `s` is above 5,
    and `-lr m / (1 - b1^t)` before.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: how slowly the two averages forget, from 0 up to, but not, 1.
        eps: keeps the division finite.
        weight_decay: how strongly parameters are pulled towards zero.
        decoupled_weight_decay: whether parameters decay by themselves, as in `AdamW`.
        maximize: whether to climb along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings are what the class says."""
        check_not_negative(settings, "lr", "eps", "weight_decay")
        check_betas(settings)
        check_switches(settings, "decoupled_weight_decay", "maximize")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps and both averages."""
        return {"step": 0, **{name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(self.initial_state(parameter, group))
        state["step"] += 1
        step, lr, (beta1, beta2) = state["step"], group["lr"], group["betas"]
        decoupled = group["decoupled_weight_decay"]
        grad = with_decay(parameter, grad, lr, group["weight_decay"], decoupled)
        direction = follow(state["exp_avg"], grad, beta1)
        square = follow_square(state["exp_avg_sq"], grad, beta2)
        rate, correction = lr / (1 - beta1**step), 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / correction
        if length > 5:
            known = (length - 4) * (length - 2) * longest
            rate *= (known / ((longest - 4) * (longest - 2) * length) * correction) ** 0.5
            direction = scaled(direction, square, 1.0, group["eps"])
        parameter.sub_(direction, alpha=rate)
