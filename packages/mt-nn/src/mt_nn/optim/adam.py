"""Adam: steps scaled by the recent size of each gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.optim.optimizer import Optimizer, check
from mt_tensor import Tensor, fused, zeros_like


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015, algorithm 1), with weight decay added to the gradient.

    At step t, with gradient `g`: `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g^2`, and the
    parameter moves by `-lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: how slowly the two averages forget, from 0 up to, but not, 1.
        eps: keeps the division finite.
        weight_decay: how strongly parameters are pulled towards zero.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        check("lr", lr, lr >= 0, "at least 0")
        check("eps", eps, eps >= 0, "at least 0")
        check("weight_decay", weight_decay, weight_decay >= 0, "at least 0")
        for beta in betas:
            check("betas", beta, 0 <= beta < 1, "from 0 up to, but not, 1")
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        )

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(step=0, mean=zeros_like(parameter), square=zeros_like(parameter))
        state["step"] += 1
        beta1, beta2 = group["betas"]
        _adam_step(
            parameter,
            grad,
            state["mean"],
            state["square"],
            state["step"],
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
        )


@fused("adam_step")
def _adam_step(
    parameter: Tensor,
    grad: Tensor,
    mean: Tensor,
    square: Tensor,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
) -> Tensor:
    """Change parameter and averages in place, unrecorded, and return the parameter.

    `step` counts from 1; see `Adam` for the formula.
    """
    if weight_decay:
        grad = grad + weight_decay * parameter
    mean.mul_(beta1).add_(grad, alpha=1 - beta1)
    square.mul_(beta2).add_(grad * grad, alpha=1 - beta2)
    root = (square / (1 - beta2**step)).sqrt() + eps
    return parameter.sub_(mean / root, alpha=lr / (1 - beta1**step))
