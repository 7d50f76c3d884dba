"""Adam: steps scaled by running averages of each gradient and of its square."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Decay, Optimizer, decay_of, decayed, moving_average, settings_among
from mt_tensor import Tensor, fuse_in_place, maximum


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015, algorithm 1), with weight decay added to the gradient.

    At step t, with gradient `g`: `m = b1 * m + (1 - b1) * g`, `v = b2 * v + (1 - b2) * g**2`, and
    the parameter moves by `-lr * (m / (1 - b1**t)) / (sqrt(v / (1 - b2**t)) + eps)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, non-negative.
        betas: the decay rates of the two averages, in [0, 1).
        eps: added to the denominator, so that it is not 0.
        weight_decay: the weight decay coefficient.
        amsgrad: whether to scale steps by the largest `v` so far (Reddi et al. 2018).
        maximize: whether to step along the gradient instead of against it.
        decoupled_weight_decay: whether to decay parameters as in `AdamW`.
        foreach, fused: accepted for compatibility with torch, without effect.
        capturable, differentiable: must be False.
    """

    kinds: ClassVar[Mapping[str, str]] = {}  # the default ones

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the step count, both averages, and with `amsgrad` the largest second one."""
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if group["amsgrad"] else 2]
        return {"step": 0, **{name: parameter._full(parameter.shape, 0) for name in names}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Update one parameter with the formula of the class."""
        step, (beta1, beta2) = state["step"], group["betas"]
        amount, decay = decay_of(group)
        adam_step(
            parameter,
            grad,
            state["exp_avg"],
            state["exp_avg_sq"],
            state["max_exp_avg_sq"] if group["amsgrad"] else None,
            group["lr"] / (1 - beta1**step),
            beta1,
            1 - beta1,
            beta2,
            1 - beta2,
            1 / (1 - beta2**step),
            group["eps"],
            amount,
            decay=decay,
        )


@fuse_in_place("x", "mean", "square", "largest")
def adam_step(
    x: Tensor,
    grad: Tensor,
    mean: Tensor,
    square: Tensor,
    largest: Tensor | None,
    rate: Tensor,
    beta1: Tensor,
    one_minus_beta1: Tensor,
    beta2: Tensor,
    one_minus_beta2: Tensor,
    scale: Tensor,
    eps: Tensor,
    amount: Tensor,
    *,
    decay: Decay,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Return the parameter and its averages after a step; see `Adam`."""
    x, grad = decayed(x, grad, amount, decay)
    mean = moving_average(mean, grad, beta1, one_minus_beta1)
    square = moving_average(square, grad * grad, beta2, one_minus_beta2)
    if largest is not None:
        largest = maximum(largest, square)
    size = square if largest is None else largest
    return x - rate * mean / ((size * scale).sqrt() + eps), mean, square, largest
