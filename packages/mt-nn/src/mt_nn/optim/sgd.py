"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.errors import SettingError
from mt_nn.optim.optimizer import Optimizer, check
from mt_tensor import Tensor, fused, zeros_like


class SGD(Optimizer):
    """Steps against the gradient, with momentum and weight decay as in torch.

    With gradient `g`, the decayed gradient is `g + weight_decay * parameter`; the velocity `v`
    becomes `momentum * v + (1 - dampening) * g`, which is `g` at the first step; the parameter
    moves by `-lr * v`, or with Nesterov's momentum by `-lr * (g + momentum * v)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        momentum: how much of the velocity is kept.
        dampening: how much of the gradient the velocity ignores.
        weight_decay: how strongly parameters are pulled towards zero.
        nesterov: whether to look ahead; needs momentum, and no dampening.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        check("lr", lr, lr >= 0, "at least 0")
        check("momentum", momentum, momentum >= 0, "at least 0")
        check("weight_decay", weight_decay, weight_decay >= 0, "at least 0")
        if nesterov and (momentum == 0 or dampening != 0):
            raise SettingError("nesterov needs a momentum above 0 and no dampening.")
        settings = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
        }
        super().__init__(params, settings)

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        dampening = group["dampening"]
        if group["momentum"] and not state:
            state["velocity"], dampening = zeros_like(parameter), 0.0
        _sgd_step(
            parameter,
            grad,
            state.get("velocity"),
            group["lr"],
            group["momentum"],
            dampening,
            group["weight_decay"],
            group["nesterov"],
        )


@fused("sgd_step")
def _sgd_step(
    parameter: Tensor,
    grad: Tensor,
    velocity: Tensor | None,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
) -> Tensor:
    """Change parameter and velocity in place, unrecorded, and return the parameter.

    There is a velocity if there is momentum; see `SGD` for the formula.
    """
    if weight_decay:
        grad = grad + weight_decay * parameter
    if velocity is not None:
        velocity.mul_(momentum).add_(grad, alpha=1 - dampening)
        grad = grad + momentum * velocity if nesterov else velocity
    return parameter.sub_(grad, alpha=lr)
