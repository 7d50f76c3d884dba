"""Adamax: Adam scaled by the largest recent gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.optimizer import follow, settings_among
from mt_nn.optim.formula import FormulaOptimizer, Values, weights
from mt_tensor import Tensor, maximum


class Adamax(FormulaOptimizer):
    """Adam scaled by the largest recent gradient (Kingma and Ba 2015, algorithm 2).

    At step t, with gradient `g`: `m = b1 m + (1 - b1) g`, `u = max(b2 u, |g| + eps)`, and the
    parameter moves by `-lr / (1 - b1^t) * m / u`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: how slowly the average and the maximum forget, from 0 up to, but not, 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the strength of weight decay.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
        differentiable: must be False, as must `capturable`.
    """

    stored = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
        """Return the corrected rate, and the weights of the average and the maximum."""
        beta1, beta2 = group["betas"]
        rate = group["lr"] / (1 - beta1 ** state["step"])
        return {"rate": rate, **weights(beta1), "kept_largest": beta2, "eps": group["eps"]}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        v.exp_avg = follow(v.exp_avg, v.grad, v.kept, v.taken)
        v.exp_inf = maximum(v.exp_inf * v.kept_largest, v.grad.abs() + v.eps)
        v.x = v.x - v.rate * v.exp_avg / v.exp_inf
