"""Adam: steps scaled by the recent size of each gradient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mt_nn.optim.averages import follow, follow_square, scaled
from mt_nn.optim.optimizer import Optimizer, with_decay
from mt_nn.optim.settings import check_betas, check_not_negative, check_switches
from mt_tensor import Tensor, fused, zeros_like


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015, algorithm 1), with weight decay added to the gradient.

    At step t, with gradient `g`: `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g^2`, and the
    parameter moves by `-lr * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: how slowly the two averages forget, from 0 up to, but not, 1.
        eps: keeps the division finite.
        weight_decay: how strongly parameters are pulled towards zero.
        amsgrad: whether steps are scaled by the largest `v` so far (Reddi et al. 2018).
        maximize: whether to climb along the gradient instead.
        decoupled_weight_decay: whether parameters decay by themselves, as in `AdamW`.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings are what the class says."""
        check_not_negative(settings, "lr", "eps", "weight_decay")
        check_betas(settings)
        check_switches(settings, "amsgrad", "maximize", "decoupled_weight_decay")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps, both averages, and the largest second one if it counts."""
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if group["amsgrad"] else 2]
        return {"step": 0, **{name: zeros_like(parameter) for name in names}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(self.initial_state(parameter, group))
        state["step"] += 1
        beta1, beta2 = group["betas"]
        settings = (
            state["step"],
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            group["decoupled_weight_decay"],
        )
        averages = state["exp_avg"], state["exp_avg_sq"]
        if group["amsgrad"]:
            _amsgrad_step(parameter, grad, *averages, state["max_exp_avg_sq"], *settings)
        else:
            _adam_step(parameter, grad, *averages, *settings)


class AdamW(Adam):
    """Adam whose parameters decay by themselves (Loshchilov and Hutter 2019, algorithm 2).

    They are multiplied by `1 - lr * weight_decay` before the step, so that the decay is not scaled
    by the size of gradients. See `Adam` for the rest.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            maximize=maximize,
            decoupled_weight_decay=True,
        )


@fused("adam_step")
def _adam_step(
    parameter: Tensor,
    grad: Tensor,
    mean: Tensor,
    square: Tensor,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
) -> Tensor:
    """Change parameter and averages in place, unrecorded, and return the parameter.

    `step` counts from 1; see `Adam` and `AdamW` for the formulas.
    """
    grad = with_decay(parameter, grad, lr, weight_decay, decoupled)
    follow(mean, grad, beta1)
    follow_square(square, grad, beta2)
    direction = scaled(mean, square, 1 / (1 - beta2**step), eps)
    return parameter.sub_(direction, alpha=lr / (1 - beta1**step))


def _amsgrad_step(
    parameter: Tensor,
    grad: Tensor,
    mean: Tensor,
    square: Tensor,
    largest: Tensor,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
) -> None:
    """Do what `_adam_step` does, scaled by the largest average of squares so far."""
    grad = with_decay(parameter, grad, lr, weight_decay, decoupled)
    follow(mean, grad, beta1)
    largest.copy_(largest.maximum(follow_square(square, grad, beta2)))
    direction = scaled(mean, largest, 1 / (1 - beta2**step), eps)
    parameter.sub_(direction, alpha=lr / (1 - beta1**step))
