"""LAMB: Adam whose steps are in proportion to what they change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.optimizer import settings_among
from mt_nn.optim.formula import AdamLike, Values, adam_size, change, move_averages
from mt_tensor import Tensor, empty_like, where


class LAMB(AdamLike):
    """LAMB (You et al. 2020, algorithm 2): each tensor's step is in proportion to its length.

    With Adam's direction `r`, whose averages are corrected, the step of a parameter `x` is
    `u = r + weight_decay x`, and it moves by `-lr * |x| / |u| * u`; by `-lr * u` if one of the
    lengths is 0.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: the decay rates of the two averages, from 0 up to, but not, 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the strength of weight decay.
        maximize: whether to step along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 1e-2,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        step, averages = empty_like(parameter), {name: state[name] for name in self.stored}
        given = {"x": parameter, "grad": grad, **self.numbers(state, group)}
        change(self.formula, {"step": step, **averages}, given)
        length, stride = parameter.detach().norm(), step.norm()
        trust = where((length > 0) & (stride > 0), length / stride, 1.0)
        change(_move, {"x": parameter}, {"step": step, "trust": trust, "rate": group["lr"]})

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
        """Return the strength of weight decay, and what the averages need."""
        correction = 1 / (1 - group["betas"][0] ** state["step"])
        numbers = super().numbers(state, group)
        return {"correction": correction, "weight_decay": group["weight_decay"], **numbers}

    @staticmethod
    def formula(v: Values) -> None:
        """Set the step before it is measured, and both averages; see the class."""
        move_averages(v)
        v.step = v.correction * v.exp_avg / adam_size(v) + v.weight_decay * v.x


def _move(v: Values) -> None:
    """Take a step that was measured."""
    v.x = v.x - v.rate * v.trust * v.step
