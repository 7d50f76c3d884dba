"""RMSprop: steps divided by the recent size of each gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.optimizer import follow, settings_among
from mt_nn.optim.formula import FormulaOptimizer, Values, weights
from mt_tensor import Tensor


class RMSprop(FormulaOptimizer):
    """RMSprop (Hinton 2012, lecture 6 of "Neural Networks for Machine Learning").

    With gradient `g`: `v = alpha v + (1 - alpha) g^2`, and the parameter moves by
    `-lr * g / (sqrt(v) + eps)`, or by `-lr` times a velocity that these quotients add up to.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        alpha: how slowly the average forgets, from 0 to 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the strength of weight decay.
        momentum: how much of the velocity is kept.
        centered: whether the mean gradient's square is subtracted from `v`, which makes it the
            variance (Graves 2013, "Generating Sequences", equations 38 to 45).
        capturable, differentiable: must be False.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
    """

    stored = ("square_avg", "momentum_buffer", "grad_avg")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, the average, and the velocity and the mean if they count."""
        absent = {"momentum_buffer": not group["momentum"], "grad_avg": not group["centered"]}
        state = super().initial_state(parameter, group)
        return {name: value for name, value in state.items() if not absent.get(name)}

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
        """Return the rate, the weights of the averages, and the momentum."""
        settings = {name: group[name] for name in ("eps", "momentum")}
        return {"rate": group["lr"], **weights(group["alpha"]), **settings}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        v.square_avg = variance = follow(v.square_avg, v.grad.square(), v.kept, v.taken)
        if hasattr(v, "grad_avg"):
            v.grad_avg = follow(v.grad_avg, v.grad, v.kept, v.taken)
            variance = v.square_avg - v.grad_avg.square()
        step = v.grad / (variance.sqrt() + v.eps)
        if hasattr(v, "momentum_buffer"):
            v.momentum_buffer = step = v.momentum * v.momentum_buffer + step
        v.x = v.x - v.rate * step
