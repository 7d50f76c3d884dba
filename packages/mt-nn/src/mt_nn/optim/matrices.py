"""Optimizers that treat a matrix as one thing, not as elements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.optim.checks import check_kinds
from mt_nn.optim.formula import DeclaredOptimizer, Group, State
from mt_tensor import Tensor, addmm, finfo, fuse_in_place, zeros_like

# --- Averages over rows and columns ---------------------------------------------------------------


class Adafactor(DeclaredOptimizer):
    """Adafactor (Shazeer and Stern 2018, algorithm 4), which remembers little of a matrix.

    With gradient `g` at step t, averages of `g^2` move by the share `t^beta2_decay`. Of a matrix
    only those over rows and over columns are kept, `r` and `c`; their product, divided by the mean
    of `r`, stands for all of them. The step is `u = g / sqrt(v)`, shortened so that its root mean
    square is at most `d`, and the parameter moves by `-max(eps[1], RMS(x)) min(lr, 1 / sqrt(t)) u`.

    Args:
        params: parameters or groups.
        lr: the largest relative step, not negative.
        beta2_decay: the power by which the share falls, at most 0.
        eps: what keeps the division finite, the precision of the element type if None; and how
            large a parameter counts at least.
        d: how long a step may be, at least 1.
        weight_decay: the strength of weight decay, each by itself.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
    """

    kinds: ClassVar[Mapping[str, str]] = {"eps": "two numbers, of which the first may be None"}
    lr: float | Tensor = 1e-2
    beta2_decay: float = -0.8
    eps: tuple[float | None, float] = (None, 1e-3)
    d: float = 1.0
    weight_decay: float = 0.0
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError for invalid settings."""
        eps = {"eps[0]": settings["eps"][0] or 0.0, "eps[1]": settings["eps"][1]}
        check_kinds(eps, dict.fromkeys(eps, "at least 0"))

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the number of steps and the averages: of rows and columns, or of elements."""
        zeros = zeros_like(parameter)
        if parameter.ndim < 2:
            return {"step": 0, "variance": zeros}
        *batch, height, width = parameter.shape
        rows, columns = zeros.new_zeros(*batch, height, 1), zeros.new_zeros(*batch, 1, width)
        return {"step": 0, "row_var": rows, "col_var": columns}

    def update(self, parameter: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Change one parameter; see the class for the formula."""
        share = state["step"] ** group["beta2_decay"]
        least, smallest = group["eps"]
        if least is None:
            least = finfo(parameter.dtype).eps
        size = _root_mean_square(parameter.detach()).clamp(min=smallest)
        rate = min(group["lr"], 1 / state["step"] ** 0.5)
        if group["weight_decay"]:
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
        square = grad.square()
        if parameter.ndim < 2:
            approach(state["variance"], square, share)
            variance = state["variance"]
        else:
            rows, columns = state["row_var"], state["col_var"]
            approach(rows, square.mean(-1, keepdim=True), share)
            approach(columns, square.mean(-2, keepdim=True), share)
            variance = rows @ columns / rows.mean(-2, keepdim=True).clamp(min=least)
        step = grad * variance.clamp(min=least * least).rsqrt()
        length = (_root_mean_square(step) / group["d"]).clamp(min=1.0)
        adafactor_step(parameter, step, size / length, rate)


@fuse_in_place("average")
def approach(average: Tensor, value: Tensor, share: Tensor) -> Tensor:
    """Return an average that has moved towards a value."""
    return average + share * (value - average)


@fuse_in_place("x")
def adafactor_step(x: Tensor, step: Tensor, scale: Tensor, rate: Tensor) -> Tensor:
    """Return the parameter after a step that was measured."""
    return x - rate * scale * step


def _root_mean_square(x: Tensor) -> Tensor:
    return x.norm() / math.sqrt(max(1, x.numel()))


# --- Orthogonal steps -----------------------------------------------------------------------------


MOST_STEPS = 99
"""How many steps of Newton and Schulz may be taken; few are enough, and each is three products."""


class Muon(DeclaredOptimizer):
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

    lr: float = 1e-3
    weight_decay: float = 0.1
    momentum: float = 0.95
    nesterov: bool = True
    ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315)
    eps: float = 1e-7
    ns_steps: int = 5
    adjust_lr_fn: str | None = None

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

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return room for the average."""
        return {"momentum_buffer": zeros_like(parameter)}

    def update(self, parameter: Tensor, grad: Tensor, state: State, group: Group) -> None:
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
