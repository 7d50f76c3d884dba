"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Decay, Optimizer, decay_of, decayed, follow, settings_among
from mt_tensor import Tensor, fuse_in_place, zeros_like


class NAdam(Optimizer):
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

    kinds: ClassVar[Mapping[str, str]] = {"momentum_decay": "at least 0"}

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
        """Return the number of steps, the product of all `mu`, and both averages."""
        averages = {name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
        return {"step": 0, "mu_product": 1.0, **averages}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        step, lr, (beta1, beta2) = state["step"], group["lr"], group["betas"]
        mu, following = (
            beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1)
        )
        state["mu_product"] *= mu
        amount, decay = decay_of(group)
        nadam_step(
            parameter,
            grad,
            state["exp_avg"],
            state["exp_avg_sq"],
            lr * (1 - mu) / (1 - state["mu_product"]),
            lr * following / (1 - state["mu_product"] * following),
            beta1,
            1 - beta1,
            beta2,
            1 - beta2,
            1 / (1 - beta2**step),
            group["eps"],
            amount,
            decay=decay,
        )


@fuse_in_place("x", "mean", "square")
def nadam_step(
    x: Tensor,
    grad: Tensor,
    mean: Tensor,
    square: Tensor,
    rate_of_grad: Tensor,
    rate_of_mean: Tensor,
    kept: Tensor,
    taken: Tensor,
    kept_square: Tensor,
    taken_square: Tensor,
    scale: Tensor,
    eps: Tensor,
    amount: Tensor,
    *,
    decay: Decay,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the parameter and its state after a step; see `NAdam`."""
    x, grad = decayed(x, grad, amount, decay)
    mean = follow(mean, grad, kept, taken)
    square = follow(square, grad.square(), kept_square, taken_square)
    ahead = grad * rate_of_grad + mean * rate_of_mean
    return x - ahead / ((square * scale).sqrt() + eps), mean, square
