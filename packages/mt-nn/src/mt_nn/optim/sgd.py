"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mt_nn.errors import SettingError
from mt_nn.optim.optimizer import Optimizer
from mt_nn.optim.settings import check_not_negative, check_switches
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
        maximize: whether to climb along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless all are numbers from 0 on, but for the switches."""
        check_not_negative(settings, "lr", "momentum", "weight_decay")
        check_switches(settings, "nesterov", "maximize")
        if settings["nesterov"] and (settings["momentum"] == 0 or settings["dampening"] != 0):
            raise SettingError("nesterov needs a momentum above 0 and no dampening.")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the velocity, if there is momentum."""
        return {"momentum_buffer": zeros_like(parameter)} if group["momentum"] else {}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        dampening = group["dampening"]
        if group["momentum"] and not state:
            state.update(self.initial_state(parameter, group))
            dampening = 0.0  # the first velocity is the gradient
        _sgd_step(
            parameter,
            grad,
            state.get("momentum_buffer"),
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
