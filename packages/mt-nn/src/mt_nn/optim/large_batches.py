"""LAMB and Lion: steps whose size does not depend on that of the gradients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mt_nn.optim.averages import follow, follow_square, scaled
from mt_nn.optim.optimizer import Optimizer
from mt_nn.optim.settings import check_betas, check_not_negative, check_switches
from mt_tensor import Tensor, fuse, zeros_like


class LAMB(Optimizer):
    """LAMB (You et al. 2020, algorithm 2): each tensor's step is in proportion to its length.

    With Adam's direction `r`, whose averages are corrected, the step of a parameter `x` is
    `u = r + weight_decay x`, and it moves by `-lr * |x| / |u| * u`; by `-lr * u` if one of the
    lengths is 0.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        betas: how slowly the two averages forget, from 0 up to, but not, 1.
        eps: keeps the division finite.
        weight_decay: how strongly parameters are pulled towards zero.
        maximize: whether to climb along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 1e-2,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings are what the class says."""
        check_not_negative(settings, "lr", "eps", "weight_decay")
        check_betas(settings)
        check_switches(settings, "maximize")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps and both averages."""
        return {"step": 0, **{name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(self.initial_state(parameter, group))
        state["step"] += 1
        step, (beta1, beta2) = state["step"], group["betas"]
        mean = follow(state["exp_avg"], grad, beta1)
        square = follow_square(state["exp_avg_sq"], grad, beta2)
        direction = scaled(mean, square, 1 / (1 - beta2**step), group["eps"])
        direction = direction.mul_(1 / (1 - beta1**step))
        direction = direction.add_(parameter, alpha=group["weight_decay"])
        length, stride = parameter.detach().norm(), direction.norm()
        trust = (length / stride).masked_fill((length == 0) | (stride == 0), 1.0)
        parameter.sub_(direction * trust, alpha=group["lr"])


class Lion(Optimizer):
    """Lion (Chen et al. 2023, program 1): steps of one size, only whose signs are learned.

    With gradient `g`, a parameter `x` moves by
    `-lr * (sign(b1 m + (1 - b1) g) + weight_decay x)`, and then `m = b2 m + (1 - b2) g`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative; a tenth of Adam's is usual.
        betas: how much the average counts in the sign, and how slowly it forgets.
        weight_decay: how strongly parameters are pulled towards zero.
        maximize: whether to climb along the gradient instead.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        settings = {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings are what the class says."""
        check_not_negative(settings, "lr", "weight_decay")
        check_betas(settings)
        check_switches(settings, "maximize")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the average."""
        return {"exp_avg": zeros_like(parameter)}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Move one parameter; see the class for the formula."""
        if not state:
            state.update(self.initial_state(parameter, group))
        mean, (beta1, beta2) = state["exp_avg"], group["betas"]
        step = _signs(mean, beta1, grad, 1 - beta1, parameter.detach(), group["weight_decay"])
        parameter.sub_(step, alpha=group["lr"])
        follow(mean, grad, beta2)


@fuse
def _signs(
    mean: Tensor, kept: float, grad: Tensor, taken: float, parameter: Tensor, decay: float
) -> Tensor:
    return (mean * kept + grad * taken).sign() + parameter * decay
