"""RMSprop: steps divided by the recent size of each gradient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mt_nn.optim.averages import follow, follow_square, scaled
from mt_nn.optim.optimizer import Optimizer, decayed
from mt_nn.optim.settings import check_fractions, check_not_negative, check_switches
from mt_tensor import Tensor, zeros_like


class RMSprop(Optimizer):
    """RMSprop (Hinton 2012, lecture 6 of "Neural Networks for Machine Learning").

    With gradient `g`: `v = alpha v + (1 - alpha) g^2`, and the parameter moves by
    `-lr * g / (sqrt(v) + eps)`, or by `-lr` times a velocity that these quotients add up to.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        alpha: how slowly the average forgets, from 0 to 1.
        eps: keeps the division finite.
        weight_decay: how strongly parameters are pulled towards zero.
        momentum: how much of the velocity is kept.
        centered: whether the mean gradient's square is subtracted from `v`, which makes it the
            variance (Graves 2013, "Generating Sequences", equations 38 to 45).
        maximize: whether to climb along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings are what the class says."""
        check_not_negative(settings, "lr", "eps", "weight_decay", "momentum")
        check_fractions(settings, "alpha")
        check_switches(settings, "centered", "maximize")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, the average, and the velocity and the mean if they count."""
        names = ["square_avg"]
        names += ["momentum_buffer"] if group["momentum"] else []
        names += ["grad_avg"] if group["centered"] else []
        return {"step": 0, **{name: zeros_like(parameter) for name in names}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(self.initial_state(parameter, group))
        state["step"] += 1
        grad = decayed(grad, parameter, group["weight_decay"])
        square = follow_square(state["square_avg"], grad, group["alpha"])
        if group["centered"]:
            mean = follow(state["grad_avg"], grad, group["alpha"])
            square = square.addcmul(mean, mean, value=-1)
        direction = scaled(grad, square, 1.0, group["eps"])
        if group["momentum"]:
            direction = state["momentum_buffer"].mul_(group["momentum"]).add_(direction)
        parameter.sub_(direction, alpha=group["lr"])
