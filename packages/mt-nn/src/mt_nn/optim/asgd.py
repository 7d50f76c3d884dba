"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mt_nn.core.optimizer import settings_among
from mt_nn.optim.formula import FormulaOptimizer, Values
from mt_tensor import Tensor


class ASGD(FormulaOptimizer):
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

    kinds: ClassVar[Mapping[str, str]] = {"alpha": "a number"}
    stored = ("ax",)

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
        return {**super().initial_state(parameter, group), "eta": float(group["lr"]), "mu": 1.0}

    def numbers(self, state: dict[str, Any], group: dict[str, Any]) -> dict[str, float]:
        """Return those of the step, and store rate and share of the next one."""
        eta, share = state["eta"], state["mu"]
        lr, lambd = group["lr"], group["lambd"]
        state["eta"] = lr / (1 + lambd * lr * state["step"]) ** group["alpha"]
        state["mu"] = 1 / max(1, state["step"] - group["t0"])
        return {"rate": eta, "kept": 1 - lambd * eta, **({} if share == 1 else {"share": share})}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        v.x = v.kept * v.x - v.rate * v.grad
        v.ax = v.ax + v.share * (v.x - v.ax) if hasattr(v, "share") else v.x
