"""LAMB: Adam whose steps are in proportion to what they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Optimizer, follow, settings_among
from mt_tensor import Tensor, empty_like, fuse_in_place, where, zeros_like


class LAMB(Optimizer):
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

    kinds: ClassVar[Mapping[str, str]] = {}

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

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps and both averages."""
        return {"step": 0, **{name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        t, (beta1, beta2) = state["step"], group["betas"]
        step = empty_like(parameter)
        lamb_step(
            step,
            state["exp_avg"],
            state["exp_avg_sq"],
            parameter,
            grad,
            1 / (1 - beta1**t),
            beta1,
            1 - beta1,
            beta2,
            1 - beta2,
            1 / (1 - beta2**t),
            group["eps"],
            group["weight_decay"],
        )
        length, stride = parameter.detach().norm(), step.norm()
        trust = where((length > 0) & (stride > 0), length / stride, 1.0)
        lamb_move(parameter, step, trust, group["lr"])


@fuse_in_place("x")
def lamb_move(x: Tensor, step: Tensor, trust: Tensor, rate: Tensor) -> Tensor:
    """Return the parameter after a step that was measured."""
    return x - rate * trust * step


@fuse_in_place("step", "mean", "square")
def lamb_step(
    step: Tensor,
    mean: Tensor,
    square: Tensor,
    x: Tensor,
    grad: Tensor,
    correction: Tensor,
    kept: Tensor,
    taken: Tensor,
    kept_square: Tensor,
    taken_square: Tensor,
    scale: Tensor,
    eps: Tensor,
    weight_decay: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the step before it is measured, and both averages; see `LAMB`."""
    mean = follow(mean, grad, kept, taken)
    square = follow(square, grad.square(), kept_square, taken_square)
    step = correction * mean / ((square * scale).sqrt() + eps) + weight_decay * x
    return step, mean, square
