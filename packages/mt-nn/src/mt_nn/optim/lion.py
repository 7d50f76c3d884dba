"""Lion: steps of one size, only whose signs are learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Optimizer, follow, settings_among
from mt_tensor import Tensor, fuse_in_place, zeros_like


class Lion(Optimizer):
    """Lion (Chen et al. 2023, program 1): steps of one size, only whose signs are learned.

    With gradient `g`, a parameter `x` moves by
    `-lr * (sign(b1 m + (1 - b1) g) + weight_decay x)`, and then `m = b2 m + (1 - b2) g`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative; a tenth of Adam's is usual.
        betas: how much the average counts in the sign, and how slowly it forgets.
        weight_decay: the strength of weight decay.
        maximize: whether to step along the gradient instead.
    """

    kinds: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the average."""
        return {"exp_avg": zeros_like(parameter)}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        beta1, beta2 = group["betas"]
        numbers = beta1, 1 - beta1, beta2, 1 - beta2, group["weight_decay"]
        lion_step(parameter, grad, state["exp_avg"], group["lr"], *numbers)


@fuse_in_place("x", "mean")
def lion_step(
    x: Tensor,
    grad: Tensor,
    mean: Tensor,
    rate: Tensor,
    kept_in_sign: Tensor,
    taken_in_sign: Tensor,
    kept: Tensor,
    taken: Tensor,
    weight_decay: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return the parameter and the average after a step; see `Lion`."""
    sign = follow(mean, grad, kept_in_sign, taken_in_sign).sign()
    return x - rate * (sign + weight_decay * x), follow(mean, grad, kept, taken)
