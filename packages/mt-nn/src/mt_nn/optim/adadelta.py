"""Adadelta: steps scaled by gradients, and by earlier steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Decay, Optimizer, decay_of, decayed, follow, settings_among
from mt_tensor import Tensor, fuse_in_place, zeros_like


class Adadelta(Optimizer):
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

    kinds: ClassVar[Mapping[str, str]] = {"rho": "from 0 to 1"}

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

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, and the averages of squared gradients and steps."""
        names = ("square_avg", "acc_delta")
        return {"step": 0, **{name: zeros_like(parameter) for name in names}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        rho = group["rho"]
        amount, decay = decay_of(group)
        numbers = group["lr"], rho, 1 - rho, group["eps"], amount
        adadelta_step(
            parameter, grad, state["square_avg"], state["acc_delta"], *numbers, decay=decay
        )


@fuse_in_place("x", "square", "moved")
def adadelta_step(
    x: Tensor,
    grad: Tensor,
    square: Tensor,
    moved: Tensor,
    rate: Tensor,
    kept: Tensor,
    taken: Tensor,
    eps: Tensor,
    amount: Tensor,
    *,
    decay: Decay,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the parameter and its state after a step; see `Adadelta`."""
    x, grad = decayed(x, grad, amount, decay)
    square = follow(square, grad.square(), kept, taken)
    step = (moved + eps).sqrt() / (square + eps).sqrt() * grad
    return x - rate * step, square, follow(moved, step.square(), kept, taken)
