"""RAdam: Adam with a careful start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.optimizer import settings_among
from mt_nn.optim.formula import AdamLike, Values, move_averages
from mt_tensor import Tensor


class RAdam(AdamLike):
    """Adam that scales its steps once it has seen enough gradients to (Liu et al. 2020).

    With `r = 2 / (1 - b2) - 1` and `s = r - 2 t b2^t / (1 - b2^t)`, the length of the average at
    step t, a step is Adam's times `sqrt((s - 4)(s - 2) r / ((r - 4)(r - 2) s))` if `s` is above 5,
    and `-lr m / (1 - b1^t)` before.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: the decay rates of the two averages, from 0 up to, but not, 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the strength of weight decay.
        decoupled_weight_decay: whether parameters decay as in `AdamW`.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
        capturable, differentiable: must be False.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
        """Return the rate, and what the averages need."""
        step, (beta1, beta2) = state["step"], group["betas"]
        rate, correction = group["lr"] / (1 - beta1**step), 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / correction
        numbers = super().numbers(state, group)
        if length > 5:
            known = (length - 4) * (length - 2) * longest
            rate *= (known / ((longest - 4) * (longest - 2) * length) * correction) ** 0.5
        else:
            del numbers["eps"]
        return {"rate": rate, **numbers}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        move_averages(v)
        step = v.rate * v.exp_avg
        v.x = v.x - (step / (v.exp_avg_sq.sqrt() + v.eps) if hasattr(v, "eps") else step)
