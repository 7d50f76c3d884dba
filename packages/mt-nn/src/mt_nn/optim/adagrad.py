"""Adagrad: steps scaled by all gradients so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.optimizer import settings_among
from mt_nn.optim.formula import FormulaOptimizer, Values
from mt_tensor import Tensor, full_like


class Adagrad(FormulaOptimizer):
    """Adagrad (Duchi et al. 2011): gradients divided by the root of the sum of their squares.

    At step t, with gradient `g`: `s = s + g^2`, and the parameter moves by
    `-lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        lr_decay: how fast the learning rate falls.
        weight_decay: the strength of weight decay.
        initial_accumulator_value: what the sums begin with.
        eps: added to the denominator, so that it is not 0.
        foreach, fused: have no effect.
        maximize: whether to step along the gradient instead.
        differentiable: must be False.
    """

    stored = ("sum",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps and the sum of squares."""
        start = float(group["initial_accumulator_value"])
        return {"step": 0, "sum": full_like(parameter.detach(), start)}

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
        """Return the rate at this step."""
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        return {"rate": rate, "eps": group["eps"]}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        v.sum = v.sum + v.grad.square()
        v.x = v.x - v.rate * v.grad / (v.sum.sqrt() + v.eps)
