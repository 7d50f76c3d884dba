"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Decay, Optimizer, decay_of, decayed, settings_among
from mt_tensor import Tensor, fuse_in_place, zeros_like


class ASGD(Optimizer):
    """Steps against the gradient, and the mean of all places (Polyak and Juditsky 1992).

    At step t, with gradient `g`: the parameter becomes `(1 - lambd eta) x - eta g`, where
    `eta = lr / (1 + lambd lr t)^alpha` is that of the step before, at first `lr`. From step `t0`
    on, `state[parameter]["ax"]` is the mean of all places since; before, it is the last.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        lambd: how fast the rate falls, and the strength of weight decay.
        alpha: the power by which the rate falls.
        t0: the step with which the mean begins.
        weight_decay: the strength of weight decay, through the gradient.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
        differentiable: must be False, as must `capturable`.
    """

    kinds: ClassVar[Mapping[str, str]] = {
        "lambd": "a number",
        "alpha": "a number",
        "t0": "a number",
    }

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, the rate and share of the next one, and the mean."""
        return {"step": 0, "eta": float(group["lr"]), "mu": 1.0, "ax": zeros_like(parameter)}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        eta, share, step = state["eta"], state["mu"], state["step"]
        lr, lambd = group["lr"], group["lambd"]
        amount, decay = decay_of(group)
        numbers = eta, 1 - lambd * eta, share, amount
        asgd_step(parameter, grad, state["ax"], *numbers, restart=share == 1, decay=decay)
        state["eta"] = lr / (1 + lambd * lr * step) ** group["alpha"]
        state["mu"] = 1 / max(1, step - group["t0"])


@fuse_in_place("x", "mean")
def asgd_step(
    x: Tensor,
    grad: Tensor,
    mean: Tensor,
    rate: Tensor,
    kept: Tensor,
    share: Tensor,
    amount: Tensor,
    *,
    restart: bool,
    decay: Decay,
) -> tuple[Tensor, Tensor]:
    """Return the parameter and the mean after a step; see `ASGD`."""
    x, grad = decayed(x, grad, amount, decay)
    x = kept * x - rate * grad
    return x, x if restart else mean + share * (x - mean)
