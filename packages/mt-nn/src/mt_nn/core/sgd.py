"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.errors import SettingError
from mt_nn.core.optimizer import Decay, Optimizer, decay_of, decayed, moving_average, settings_among
from mt_tensor import Tensor, fuse_in_place


class SGD(Optimizer):
    """Stochastic gradient descent with momentum and weight decay, as in torch.

    `g` is the gradient plus `weight_decay * parameter`. The velocity `v` becomes
    `momentum * v + (1 - dampening) * g`, or `g` at the first step. The parameter moves by
    `-lr * v`, or with Nesterov momentum by `-lr * (g + momentum * v)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, non-negative.
        momentum: the momentum factor.
        dampening: the fraction of the gradient that is not added to the velocity.
        weight_decay: the weight decay coefficient.
        nesterov: whether to use Nesterov momentum; requires momentum, and no dampening.
        maximize: whether to step along the gradient instead of against it.
        foreach, fused: accepted for compatibility with torch, without effect.
        differentiable: must be False.
    """

    kinds: ClassVar[Mapping[str, str]] = {}  # the default ones

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise `SettingError` for Nesterov momentum without momentum or with dampening."""
        if settings["nesterov"] and (settings["momentum"] == 0 or settings["dampening"] != 0):
            raise SettingError("SGD with nesterov needs a momentum above 0 and no dampening.")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return an empty momentum buffer; the first step fills it."""
        return {"momentum_buffer": None} if group["momentum"] else {}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Update one parameter with the formula of the class."""
        momentum, weight = group["momentum"], 1 - group["dampening"]
        velocity = None
        if momentum:
            velocity = state.get("momentum_buffer")
            if velocity is None:
                velocity = state["momentum_buffer"] = parameter._full(parameter.shape, 0)
                weight = 1.0
        amount, decay = decay_of(group)
        numbers = group["lr"], momentum, weight, amount
        sgd_step(parameter, grad, velocity, *numbers, nesterov=group["nesterov"], decay=decay)


@fuse_in_place("x", "velocity")
def sgd_step(
    x: Tensor,
    grad: Tensor,
    velocity: Tensor | None,
    rate: Tensor,
    momentum: Tensor,
    weight: Tensor,
    amount: Tensor,
    *,
    nesterov: bool,
    decay: Decay,
) -> tuple[Tensor, Tensor | None]:
    """Return the parameter and its velocity after a step; see `SGD`."""
    x, grad = decayed(x, grad, amount, decay)
    if velocity is None:
        return x - rate * grad, None
    velocity = moving_average(velocity, grad, momentum, weight)
    return x - rate * (grad + momentum * velocity if nesterov else velocity), velocity
