"""RMSprop: steps divided by the recent size of each gradient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Decay, Optimizer, decay_of, decayed, follow, settings_among
from mt_tensor import Tensor, fuse_in_place, zeros_like


class RMSprop(Optimizer):
    """RMSprop (Hinton 2012, lecture 6 of "Neural Networks for Machine Learning").

    With gradient `g`: `v = alpha v + (1 - alpha) g^2`, and the parameter moves by
    `-lr * g / (sqrt(v) + eps)`, or by `-lr` times a velocity that these quotients add up to.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        alpha: how slowly the average forgets, from 0 to 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the strength of weight decay.
        momentum: how much of the velocity is kept.
        centered: whether the mean gradient's square is subtracted from `v`, which makes it the
            variance (Graves 2013, "Generating Sequences", equations 38 to 45).
        capturable, differentiable: must be False.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
    """

    kinds: ClassVar[Mapping[str, str]] = {"alpha": "from 0 to 1"}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, the average, and the velocity and the mean if they count."""
        names = ["square_avg"]
        names += ["momentum_buffer"] if group["momentum"] else []
        names += ["grad_avg"] if group["centered"] else []
        return {"step": 0, **{name: zeros_like(parameter) for name in names}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        alpha = group["alpha"]
        amount, decay = decay_of(group)
        rmsprop_step(
            parameter,
            grad,
            state["square_avg"],
            state.get("momentum_buffer"),
            state.get("grad_avg"),
            group["lr"],
            alpha,
            1 - alpha,
            group["eps"],
            group["momentum"],
            amount,
            decay=decay,
        )


@fuse_in_place("x", "square", "velocity", "mean")
def rmsprop_step(
    x: Tensor,
    grad: Tensor,
    square: Tensor,
    velocity: Tensor | None,
    mean: Tensor | None,
    rate: Tensor,
    kept: Tensor,
    taken: Tensor,
    eps: Tensor,
    momentum: Tensor,
    amount: Tensor,
    *,
    decay: Decay,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Return the parameter and its state after a step; see `RMSprop`."""
    x, grad = decayed(x, grad, amount, decay)
    square = follow(square, grad.square(), kept, taken)
    variance = square
    if mean is not None:
        mean = follow(mean, grad, kept, taken)
        variance = square - mean.square()
    step = grad / (variance.sqrt() + eps)
    if velocity is not None:
        velocity = step = momentum * velocity + step
    return x - rate * step, square, velocity, mean
