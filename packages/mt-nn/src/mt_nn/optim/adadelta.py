"""Adadelta: steps scaled by gradients, and by earlier steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.optimizer import follow, settings_among
from mt_nn.optim.formula import FormulaOptimizer, Values, weights
from mt_tensor import Tensor


class Adadelta(FormulaOptimizer):
    """Adadelta (Zeiler 2012, algorithm 1): steps as large as recent ones, per gradient.

    For `g`: `v = rho v + (1 - rho) g^2`, the step is `d = g sqrt(u + eps) / sqrt(v + eps)`,
    and then `u = rho u + (1 - rho) d^2`; the parameter moves by `-lr * d`.

    Args:
        params: parameters or groups.
        lr: what steps are multiplied by, not negative.
        rho: how slowly the averages forget, from 0 to 1.
        eps: added to the denominator, so that it is not 0, and makes the first steps.
        weight_decay: the strength of weight decay.
        foreach: has no effect.
        capturable, differentiable: must be False.
        maximize: whether to step along the gradient instead.
    """

    stored = ("square_avg", "acc_delta")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
        """Return the rate, and the weights of the averages."""
        return {"rate": group["lr"], **weights(group["rho"]), "eps": group["eps"]}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        v.square_avg = follow(v.square_avg, v.grad.square(), v.kept, v.taken)
        step = (v.acc_delta + v.eps).sqrt() / (v.square_avg + v.eps).sqrt() * v.grad
        v.acc_delta = follow(v.acc_delta, step.square(), v.kept, v.taken)
        v.x = v.x - v.rate * step
