"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.optimizer import settings_among
from mt_nn.optim.formula import AdamLike, Values, adam_size, move_averages
from mt_tensor import Tensor


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

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, both averages, and the product of all `mu`."""
        return {**super().initial_state(parameter, group), "mu_product": 1.0}

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
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
