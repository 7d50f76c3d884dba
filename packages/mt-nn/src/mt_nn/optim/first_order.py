"""Optimizers whose step is a short formula of the gradient: scaled, averaged, or its sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from mt_nn.core.optimizer import follow
from mt_nn.optim.formula import FormulaOptimizer, Group, State, Values, other_weights, weights
from mt_tensor import Tensor, full_like, maximum, minimum, where, zeros_like


class Adadelta(FormulaOptimizer):
    """Adadelta (Zeiler 2012, algorithm 1): steps as large as recent ones, per gradient.

    For `g`: `v = rho v + (1 - rho) g^2`, the step is `d = g sqrt(u + eps) / sqrt(v + eps)`,
    and then `u = rho u + (1 - rho) d^2`; the parameter moves by `-lr * d`.

    Args:
        params: parameters or groups.
        lr: what steps are multiplied by, not negative.
        rho: how slowly the averages forget, from 0 to 1.
        eps: added to the denominator, so that it is not 0, and makes the first steps.
        weight_decay: the strength of weight decay.
        foreach: has no effect.
        capturable, differentiable: must be False.
        maximize: whether to step along the gradient instead.
    """

    stored = ("square_avg", "acc_delta")
    lr: float | Tensor = 1.0
    rho: float = 0.9
    eps: float = 1e-6
    weight_decay: float = 0
    foreach: bool | None = None
    _: KW_ONLY
    capturable: bool = False
    maximize: bool = False
    differentiable: bool = False

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate, and the weights of the averages."""
        return {"rate": group["lr"], **weights(group["rho"]), "eps": group["eps"]}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        v.square_avg = follow(v.square_avg, v.grad.square(), v.kept, v.taken)
        step = (v.acc_delta + v.eps).sqrt() / (v.square_avg + v.eps).sqrt() * v.grad
        v.acc_delta = follow(v.acc_delta, step.square(), v.kept, v.taken)
        v.x = v.x - v.rate * step


class Adagrad(FormulaOptimizer):
    """Adagrad (Duchi et al. 2011): gradients divided by the root of the sum of their squares.

    At step t, with gradient `g`: `s = s + g^2`, and the parameter moves by
    `-lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, not negative.
        lr_decay: how fast the learning rate falls.
        weight_decay: the strength of weight decay.
        initial_accumulator_value: what the sums begin with.
        eps: added to the denominator, so that it is not 0.
        foreach, fused: have no effect.
        maximize: whether to step along the gradient instead.
        differentiable: must be False.
    """

    stored = ("sum",)
    lr: float | Tensor = 1e-2
    lr_decay: float = 0
    weight_decay: float = 0
    initial_accumulator_value: float = 0
    eps: float = 1e-10
    foreach: bool | None = None
    _: KW_ONLY
    maximize: bool = False
    differentiable: bool = False
    fused: bool | None = None

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the number of steps and the sum of squares."""
        start = float(group["initial_accumulator_value"])
        return {"step": 0, "sum": full_like(parameter.detach(), start)}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate at this step."""
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        return {"rate": rate, "eps": group["eps"]}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        v.sum = v.sum + v.grad.square()
        v.x = v.x - v.rate * v.grad / (v.sum.sqrt() + v.eps)


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
    lr: float | Tensor = 1e-2
    lambd: float = 1e-4
    alpha: float = 0.75
    t0: float = 1e6
    weight_decay: float = 0
    foreach: bool | None = None
    maximize: bool = False
    differentiable: bool = False
    capturable: bool = False

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the number of steps, the rate and share of the next one, and the mean."""
        return {**super().initial_state(parameter, group), "eta": float(group["lr"]), "mu": 1.0}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
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


class Lion(FormulaOptimizer):
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

    stored = ("exp_avg",)
    decays = False
    lr: float | Tensor = 1e-4
    betas: tuple[float, float] = (0.9, 0.99)
    weight_decay: float = 0.0
    _: KW_ONLY
    maximize: bool = False

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the average."""
        return {"exp_avg": zeros_like(parameter)}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate, and the weights of the average, in the sign and later."""
        beta1, beta2 = group["betas"]
        settings = {"rate": group["lr"], "weight_decay": group["weight_decay"]}
        return {**settings, **other_weights(beta1), **weights(beta2)}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        sign = follow(v.exp_avg, v.grad, v.kept_other, v.taken_other).sign()
        v.x = v.x - v.rate * (sign + v.weight_decay * v.x)
        v.exp_avg = follow(v.exp_avg, v.grad, v.kept, v.taken)


class RMSprop(FormulaOptimizer):
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

    stored = ("square_avg", "momentum_buffer", "grad_avg")
    lr: float | Tensor = 1e-2
    alpha: float = 0.99
    eps: float = 1e-8
    weight_decay: float = 0
    momentum: float = 0
    centered: bool = False
    capturable: bool = False
    foreach: bool | None = None
    maximize: bool = False
    differentiable: bool = False

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the number of steps, the average, and the velocity and the mean if they count."""
        absent = {"momentum_buffer": not group["momentum"], "grad_avg": not group["centered"]}
        state = super().initial_state(parameter, group)
        return {name: value for name, value in state.items() if not absent.get(name)}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate, the weights of the averages, and the momentum."""
        settings = {name: group[name] for name in ("eps", "momentum")}
        return {"rate": group["lr"], **weights(group["alpha"]), **settings}

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        v.square_avg = variance = follow(v.square_avg, v.grad.square(), v.kept, v.taken)
        if hasattr(v, "grad_avg"):
            v.grad_avg = follow(v.grad_avg, v.grad, v.kept, v.taken)
            variance = v.square_avg - v.grad_avg.square()
        step = v.grad / (variance.sqrt() + v.eps)
        if hasattr(v, "momentum_buffer"):
            v.momentum_buffer = step = v.momentum * v.momentum_buffer + step
        v.x = v.x - v.rate * step


class Rprop(FormulaOptimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993), for gradients of all the data.

    Each element has a step size, which grows by the second of `etas` while its gradient keeps its
    sign, and shrinks by the first when it has changed; the element then stays for a step. It moves
    by that size, against the sign of its gradient.

    Args:
        params: parameters or groups.
        lr: the first step size, not negative.
        etas: by what step sizes shrink, between 0 and 1, and grow, above 1.
        step_sizes: the smallest and the largest.
        capturable, differentiable: must be False.
        foreach: has no effect.
        maximize: whether to step along the gradient instead.
    """

    stored = ("prev", "step_size")
    decays = False
    lr: float | Tensor = 1e-2
    etas: tuple[float, float] = (0.5, 1.2)
    step_sizes: tuple[float, float] = (1e-6, 50)
    _: KW_ONLY
    capturable: bool = False
    foreach: bool | None = None
    maximize: bool = False
    differentiable: bool = False

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the number of steps, the gradient before, and the step sizes."""
        sizes = full_like(parameter.detach(), float(group["lr"]))
        return {**super().initial_state(parameter, group), "step_size": sizes}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the factors, and the bounds."""
        names = ("shrink", "grow", "smallest", "largest")
        return dict(zip(names, (*group["etas"], *group["step_sizes"]), strict=True))

    @staticmethod
    def formula(v: Values) -> None:
        """Take a step; see the class."""
        kept = v.grad * v.prev
        shrinking: Any = where(kept < 0, v.shrink, kept + 1)  # 1 for 0, nan for nan
        factor: Any = where(kept > 0, v.grow, shrinking)
        v.step_size = minimum(maximum(v.step_size * factor, v.smallest), v.largest)
        v.prev = where(kept < 0, 0.0, v.grad)
        v.x = v.x - v.prev.sign() * v.step_size
