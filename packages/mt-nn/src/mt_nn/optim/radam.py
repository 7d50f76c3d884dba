"""RAdam: Adam with a careful start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Decay, Optimizer, decay_of, decayed, follow, settings_among
from mt_tensor import Tensor, fuse_in_place, zeros_like


class RAdam(Optimizer):
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

    kinds: ClassVar[Mapping[str, str]] = {}

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

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps and both averages."""
        return {"step": 0, **{name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        step, (beta1, beta2) = state["step"], group["betas"]
        rate, correction = group["lr"] / (1 - beta1**step), 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / correction
        if length > 5:
            known = (length - 4) * (length - 2) * longest
            rate *= (known / ((longest - 4) * (longest - 2) * length) * correction) ** 0.5
        amount, decay = decay_of(group)
        radam_step(
            parameter,
            grad,
            state["exp_avg"],
            state["exp_avg_sq"],
            rate,
            beta1,
            1 - beta1,
            beta2,
            1 - beta2,
            group["eps"],
            amount,
            scaled=length > 5,
            decay=decay,
        )


@fuse_in_place("x", "mean", "square")
def radam_step(
    x: Tensor,
    grad: Tensor,
    mean: Tensor,
    square: Tensor,
    rate: Tensor,
    kept: Tensor,
    taken: Tensor,
    kept_square: Tensor,
    taken_square: Tensor,
    eps: Tensor,
    amount: Tensor,
    *,
    scaled: bool,
    decay: Decay,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the parameter and its state after a step; see `RAdam`."""
    x, grad = decayed(x, grad, amount, decay)
    mean = follow(mean, grad, kept, taken)
    square = follow(square, grad.square(), kept_square, taken_square)
    step = rate * mean
    return x - (step / (square.sqrt() + eps) if scaled else step), mean, square
