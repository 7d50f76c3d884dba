"""Muon: momentum whose directions are made equally long."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Optimizer, settings_among
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.optim.checks import check_kinds
from mt_tensor import Tensor, addmm, zeros_like

MOST_STEPS = 99
"""How many steps of Newton and Schulz may be taken; few are enough, and each is three products."""


class Muon(Optimizer):
    """Muon (Jordan 2024, https://kellerjordan.github.io/posts/muon), for matrices.

    With gradient `g`, the average `m` becomes `momentum * m + (1 - momentum) * g`. The step is `m`,
    or with Nesterov's momentum `momentum * m + (1 - momentum) * g` of the new `m`, after it has
    been made nearly orthogonal: its singular values come close to 1. The parameter is shortened by
    `lr * weight_decay` of itself, and moves by `-lr * a` times the step, where `a` depends on its
    shape (rows, columns): see `adjust_lr_fn`.

    Biases, embeddings and what else is no matrix of weights is left to another optimizer, such as
    AdamW. The steps that make orthogonal are computed in the type of the parameter; torch rounds
    them to bfloat16, so that its results agree to two digits of each step.

    Args:
        params: parameters of two dimensions, or groups of them.
        lr: the learning rate, not negative.
        weight_decay: the strength of weight decay, each by itself.
        momentum: how much of the average is kept.
        nesterov: whether to look ahead.
        ns_coefficients: a, b and c of the polynomial `a s + b s^3 + c s^5` that each step makes of
            singular values.
        eps: what keeps the division by the norm finite.
        ns_steps: how many steps are taken, less than 100.
        adjust_lr_fn: `sqrt(max(1, rows / columns))` for "original" and None;
            `0.2 sqrt(max(rows, columns))`, the size of AdamW's steps, for "match_rms_adamw" (Liu et
            al. 2025, arXiv:2502.16982).

    Raises:
        SettingError: a parameter is no matrix, or an invalid setting.
    """

    kinds: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError for invalid settings."""
        if integer("ns_steps", settings["ns_steps"], 0) > MOST_STEPS:
            raise SettingError(f"ns_steps must be less than 100; got {settings['ns_steps']}.")
        factors = settings["ns_coefficients"]
        named = {f"ns_coefficients[{i}]": factor for i, factor in enumerate(factors)}
        check_kinds(named, dict.fromkeys(named, "a number"))
        for parameter in settings.get("params", ()):
            if parameter.ndim != 2:
                raise SettingError(
                    f"Muon takes matrices; a parameter of shape {parameter.shape} was given. "
                    "Leave it to another optimizer, such as AdamW."
                )

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return room for the average."""
        return {"momentum_buffer": zeros_like(parameter)}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter; see the class for the formula."""
        rate, momentum = group["lr"], group["momentum"]
        average = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        step = grad.lerp(average, momentum) if group["nesterov"] else average
        step = orthogonalized(step, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = parameter.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            size = 0.2 * math.sqrt(max(rows, columns))
        else:
            size = math.sqrt(max(1.0, rows / max(columns, 1)))
        parameter.mul_(1 - rate * group["weight_decay"])
        parameter.sub_(step.to(parameter.dtype), alpha=rate * size)


def orthogonalized(matrix: Tensor, factors: tuple[float, ...], steps: int, eps: float) -> Tensor:
    """Return a matrix with the same singular vectors, whose singular values are close to 1.

    Each step of Newton and Schulz makes `a X + (b X X^T + c (X X^T)^2) X` of X, which applies the
    polynomial `a s + b s^3 + c s^5` to the singular values.
    """
    a, b, c = factors
    x = matrix.float() if matrix.dtype.is_narrow else matrix
    upright = matrix.shape[0] > matrix.shape[1]
    if upright:
        x = x.T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        square = x @ x.T
        x = addmm(x, addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.T if upright else x
