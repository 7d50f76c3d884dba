"""Rprop: steps that follow the signs of gradients alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.optimizer import settings_among
from mt_nn.optim.formula import FormulaOptimizer, Values
from mt_tensor import Tensor, full_like, maximum, minimum, where


class Rprop(FormulaOptimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993), for gradients of all the data.

    Each element has a step size, which grows by the second of `etas` while its gradient keeps its
    sign, and shrinks by the first when it has changed; the element then stays for a step. It moves
    by that size, against the sign of its gradient.

    Args:
        params: parameters or groups.
        lr: the first step size, not negative.
        etas: by what step sizes shrink, between 0 and 1, and grow, above 1.
        step_sizes: the smallest and the largest.
        capturable, differentiable: must be False.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
    """

    stored = ("prev", "step_size")
    decays = False

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, the gradient before, and the step sizes."""
        sizes = full_like(parameter.detach(), float(group["lr"]))
        return {**super().initial_state(parameter, group), "step_size": sizes}

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
        """Return the factors, and the bounds."""
        names = ("shrink", "grow", "smallest", "largest")
        return dict(zip(names, (*group["etas"], *group["step_sizes"]), strict=True))

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        kept = v.grad * v.prev
        shrinking: Any = where(kept < 0, v.shrink, kept + 1)  # 1 for 0, nan for nan
        factor: Any = where(kept > 0, v.grow, shrinking)
        v.step_size = minimum(maximum(v.step_size * factor, v.smallest), v.largest)
        v.prev = where(kept < 0, 0.0, v.grad)
        v.x = v.x - v.prev.sign() * v.step_size
