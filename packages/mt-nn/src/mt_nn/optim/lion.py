"""Lion: steps of one size, only whose signs are learned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.optimizer import follow, settings_among
from mt_nn.optim.formula import FormulaOptimizer, Values, other_weights, weights
from mt_tensor import Tensor, zeros_like


class Lion(FormulaOptimizer):
    """Lion (Chen et al. 2023, program 1): steps of one size, only whose signs are learned.

    With gradient `g`, a parameter `x` moves by
    `-lr * (sign(b1 m + (1 - b1) g) + weight_decay x)`, and then `m = b2 m + (1 - b2) g`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative; a tenth of Adam's is usual.
        betas: how much the average counts in the sign, and how slowly it forgets.
        weight_decay: the strength of weight decay.
        maximize: whether to step along the gradient instead.
    """

    stored = ("exp_avg",)
    decays = False

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the average."""
        return {"exp_avg": zeros_like(parameter)}

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
        """Return the rate, and the weights of the average, in the sign and later."""
        beta1, beta2 = group["betas"]
        settings = {"rate": group["lr"], "weight_decay": group["weight_decay"]}
        return {**settings, **other_weights(beta1), **weights(beta2)}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        sign = follow(v.exp_avg, v.grad, v.kept_other, v.taken_other).sign()
        v.x = v.x - v.rate * (sign + v.weight_decay * v.x)
        v.exp_avg = follow(v.exp_avg, v.grad, v.kept, v.taken)
