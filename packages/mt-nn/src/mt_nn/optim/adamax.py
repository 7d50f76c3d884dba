"""Adamax: Adam scaled by the largest recent gradient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Decay, Optimizer, decay_of, decayed, follow, settings_among
from mt_tensor import Tensor, fuse_in_place, maximum, zeros_like


class Adamax(Optimizer):
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

    kinds: ClassVar[Mapping[str, str]] = {}

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

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, the average and the maximum."""
        return {"step": 0, **{name: zeros_like(parameter) for name in ("exp_avg", "exp_inf")}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        beta1, beta2 = group["betas"]
        rate = group["lr"] / (1 - beta1 ** state["step"])
        amount, decay = decay_of(group)
        numbers = rate, beta1, 1 - beta1, beta2, group["eps"], amount
        adamax_step(parameter, grad, state["exp_avg"], state["exp_inf"], *numbers, decay=decay)


@fuse_in_place("x", "mean", "largest")
def adamax_step(
    x: Tensor,
    grad: Tensor,
    mean: Tensor,
    largest: Tensor,
    rate: Tensor,
    kept: Tensor,
    taken: Tensor,
    kept_largest: Tensor,
    eps: Tensor,
    amount: Tensor,
    *,
    decay: Decay,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the parameter and its state after a step; see `Adamax`."""
    x, grad = decayed(x, grad, amount, decay)
    mean = follow(mean, grad, kept, taken)
    largest = maximum(largest * kept_largest, grad.abs() + eps)
    return x - rate * mean / largest, mean, largest
