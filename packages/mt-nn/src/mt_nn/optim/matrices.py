"""Optimizers that treat matrices as a whole, not elementwise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.optim.checks import check_kinds
from mt_nn.optim.formula import DeclaredOptimizer, Group, State
from mt_nn.utils.settings import check
from mt_tensor import Tensor, addmm, finfo, fuse_in_place, zeros_like

# --- Averages over rows and columns ---------------------------------------------------------------


class Adafactor(DeclaredOptimizer):
    """Adafactor (Shazeer and Stern 2018, algorithm 4), whose state is small for matrices.

    With gradient `g` at step t, `v` is a running average of `g**2`, in which new values have the
    weight `t**beta2_decay`. For a matrix, only the averages over rows and columns are stored, `r`
    and `c`; `v` is approximated by their product, divided by the mean of `r`. The step is
    `u = g / sqrt(v)`, scaled so that its root mean square is at most `d`, and the parameter moves
    by `-max(eps[1], RMS(x)) * min(lr, 1 / sqrt(t)) * u`.

    Args:
        params: parameters or groups.
        lr: the largest relative step, non-negative.
        beta2_decay: the exponent of the weight of new values, at most 0.
        eps: the lower bounds of the denominators (the eps of the dtype if None), and of the root
            mean square of the parameter.
        d: the largest root mean square of `u`, at least 1.
        weight_decay: the coefficient of decoupled weight decay.
        foreach: accepted for compatibility with torch, without effect.
        maximize: whether to step along the gradient instead of against it.
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
        """Raise `SettingError` unless both numbers of `eps` are non-negative."""
        eps = {"eps[0]": settings["eps"][0] or 0.0, "eps[1]": settings["eps"][1]}
        check_kinds(eps, dict.fromkeys(eps, "at least 0"))

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the step count, and the averages over rows and columns, or else `v` itself."""
        zeros = zeros_like(parameter)
        if parameter.ndim < 2:
            return {"step": 0, "variance": zeros}
        *batch, height, width = parameter.shape
        rows, columns = zeros.new_zeros(*batch, height, 1), zeros.new_zeros(*batch, 1, width)
        return {"step": 0, "row_var": rows, "col_var": columns}

    def update(self, parameter: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Update one parameter with the formula of the class."""
        weight = state["step"] ** group["beta2_decay"]
        eps, smallest = group["eps"]
        if eps is None:
            eps = finfo(parameter.dtype).eps
        size = _root_mean_square(parameter.detach()).clamp(min=smallest)
        rate = min(group["lr"], 1 / state["step"] ** 0.5)
        if group["weight_decay"]:
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
        square = grad.square()
        if parameter.ndim < 2:
            update_average(state["variance"], square, weight)
            variance = state["variance"]
        else:
            rows, columns = state["row_var"], state["col_var"]
            update_average(rows, square.mean(-1, keepdim=True), weight)
            update_average(columns, square.mean(-2, keepdim=True), weight)
            variance = rows @ columns / rows.mean(-2, keepdim=True).clamp(min=eps)
        step = grad * variance.clamp(min=eps * eps).rsqrt()
        length = (_root_mean_square(step) / group["d"]).clamp(min=1.0)
        adafactor_step(parameter, step, size / length, rate)


@fuse_in_place("average")
def update_average(average: Tensor, value: Tensor, weight: Tensor) -> Tensor:
    """Return a running average in which the new value has the given weight."""
    return average + weight * (value - average)


@fuse_in_place("x")
def adafactor_step(x: Tensor, step: Tensor, scale: Tensor, rate: Tensor) -> Tensor:
    """Return the parameter after a scaled step."""
    return x - rate * scale * step


def _root_mean_square(x: Tensor) -> Tensor:
    return x.norm() / math.sqrt(max(1, x.numel()))


# --- Orthogonal steps -----------------------------------------------------------------------------


class Muon(DeclaredOptimizer):
    """Muon (Jordan 2024, <https://kellerjordan.github.io/posts/muon>), for matrices.

    With gradient `g`, the average `m` becomes `momentum * m + (1 - momentum) * g`. The step is `m`,
    or with Nesterov momentum `momentum * m + (1 - momentum) * g` of the new `m`, made nearly
    orthogonal: its singular values become close to 1. The parameter is multiplied by
    `1 - lr * weight_decay`, and moves by `-lr * a` times the step, where `a` depends on its shape
    (rows, columns): see `adjust_lr_fn`.

    Use another optimizer, such as `AdamW`, for biases, embeddings and other parameters that are not
    weight matrices. The step is orthogonalized in the dtype of the parameter; torch rounds to
    bfloat16, so its steps agree to about two digits.

    Args:
        params: 2-D parameters, or groups of them.
        lr: the learning rate, non-negative.
        weight_decay: the coefficient of decoupled weight decay.
        momentum: the decay rate of the average.
        nesterov: whether to use Nesterov momentum.
        ns_coefficients: a, b and c of the polynomial `a * s + b * s**3 + c * s**5` that each
            Newton-Schulz iteration applies to the singular values.
        eps: the lower bound of the norm that divides the step.
        ns_steps: the number of Newton-Schulz iterations, less than 100.
        adjust_lr_fn: `sqrt(max(1, rows / columns))` for "original" and None;
            `0.2 * sqrt(max(rows, columns))`, the size of AdamW's steps, for "match_rms_adamw" (Liu
            et al. 2025, arXiv:2502.16982).

    Raises:
        SettingError: a parameter is not 2-D, or a setting is invalid.
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
        """Raise `SettingError` for invalid settings, or parameters that are not 2-D."""
        steps = integer("ns_steps", settings["ns_steps"], 0)
        check("ns_steps", steps, steps < 100, "less than 100")
        for parameter in settings.get("params", ()):
            if parameter.ndim != 2:
                raise SettingError(
                    f"Muon takes 2-D parameters; one of shape {parameter.shape} was given. Use "
                    "another optimizer for it, such as AdamW."
                )

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the average, initially zero."""
        return {"momentum_buffer": zeros_like(parameter)}

    def update(self, parameter: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Update one parameter with the formula of the class."""
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
    """Return a matrix with the same singular vectors, and singular values close to 1.

    Each Newton-Schulz iteration replaces X by `a X + (b X X^T + c (X X^T)^2) X`, which applies the
    polynomial `a * s + b * s**3 + c * s**5` to the singular values.
    """
    a, b, c = factors
    x = matrix.float() if matrix.dtype.is_narrow else matrix
    tall = matrix.shape[0] > matrix.shape[1]
    if tall:
        x = x.T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        square = x @ x.T
        x = addmm(x, addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x
