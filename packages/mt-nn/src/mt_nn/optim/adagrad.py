"""Adagrad and Adadelta: steps scaled by all gradients so far, and by earlier steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mt_nn.optim.averages import follow_square, scaled
from mt_nn.optim.optimizer import Optimizer, decayed
from mt_nn.optim.settings import check_fractions, check_not_negative, check_switches
from mt_tensor import Tensor, full_like, fuse, zeros_like


class Adagrad(Optimizer):
    """Adagrad (Duchi et al. 2011): gradients divided by the root of the sum of their squares.

    At step t, with gradient `g`: `s = s + g^2`, and the parameter moves by
    `-lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        lr_decay: how fast the learning rate falls.
        weight_decay: how strongly parameters are pulled towards zero.
        initial_accumulator_value: what the sums begin with.
        eps: keeps the division finite.
        maximize: whether to climb along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings are what the class says."""
        names = ("lr", "lr_decay", "eps", "weight_decay", "initial_accumulator_value")
        check_not_negative(settings, *names)
        check_switches(settings, "maximize")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps and the sum of squares."""
        start = float(group["initial_accumulator_value"])
        return {"step": 0, "sum": full_like(parameter.detach(), start)}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(self.initial_state(parameter, group))
        state["step"] += 1
        grad = decayed(grad, parameter, group["weight_decay"])
        state["sum"].addcmul_(grad, grad)
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        parameter.sub_(scaled(grad, state["sum"], 1.0, group["eps"]), alpha=rate)


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012, algorithm 1): steps as large as recent ones, per gradient.

    For `g`: `v = rho v + (1 - rho) g^2`, the step is `d = g sqrt(u + eps) / sqrt(v + eps)`,
    and then `u = rho u + (1 - rho) d^2`; the parameter moves by `-lr * d`.

    Args:
        params: parameters or groups.
        lr: what steps are multiplied by, not negative.
        rho: how slowly the averages forget, from 0 to 1.
        eps: keeps the division finite, and makes the first steps.
        weight_decay: how strongly parameters are pulled towards zero.
        maximize: whether to climb along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings are what the class says."""
        check_not_negative(settings, "lr", "eps", "weight_decay")
        check_fractions(settings, "rho")
        check_switches(settings, "maximize")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, and the averages of squared gradients and steps."""
        names = ("square_avg", "acc_delta")
        return {"step": 0, **{name: zeros_like(parameter) for name in names}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(self.initial_state(parameter, group))
        state["step"] += 1
        grad = decayed(grad, parameter, group["weight_decay"])
        square = follow_square(state["square_avg"], grad, group["rho"])
        step = _step(grad, square, state["acc_delta"], group["eps"])
        follow_square(state["acc_delta"], step, group["rho"])
        parameter.sub_(step, alpha=group["lr"])


@fuse
def _step(grad: Tensor, square: Tensor, moved: Tensor, eps: float) -> Tensor:
    return (moved + eps).sqrt() / (square + eps).sqrt() * grad
