"""Adafactor: the memory of Adam's squares in a row and a column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import Optimizer, settings_among
from mt_nn.optim.checks import check_kinds
from mt_tensor import Tensor, finfo, fuse_in_place, zeros_like


class Adafactor(Optimizer):
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

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, settings_among(locals()))

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError for invalid settings."""
        eps = {"eps[0]": settings["eps"][0] or 0.0, "eps[1]": settings["eps"][1]}
        check_kinds(eps, dict.fromkeys(eps, "at least 0"))

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the number of steps and the averages: of rows and columns, or of elements."""
        zeros = zeros_like(parameter)
        if parameter.ndim < 2:
            return {"step": 0, "variance": zeros}
        *batch, height, width = parameter.shape
        rows, columns = zeros.new_zeros(*batch, height, 1), zeros.new_zeros(*batch, 1, width)
        return {"step": 0, "row_var": rows, "col_var": columns}

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
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
