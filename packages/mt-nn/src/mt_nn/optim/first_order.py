"""First-order optimizers other than SGD and Adam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from mt_nn.core.optimizer import moving_average
from mt_nn.optim.formula import FormulaOptimizer, Group, State, Values, weights
from mt_tensor import Tensor, full_like, maximum, minimum, where


class Adadelta(FormulaOptimizer):
    """Adadelta (Zeiler 2012, algorithm 1): gradients scaled by the size of recent steps.

    With gradient `g`: `v = rho * v + (1 - rho) * g**2`, the step is
    `d = g * sqrt(u + eps) / sqrt(v + eps)`, and then `u = rho * u + (1 - rho) * d**2`; the
    parameter moves by `-lr * d`.

    Args:
        params: parameters or groups.
        lr: a factor of the steps, non-negative.
        rho: the decay rate of both averages, from 0 to 1.
        eps: added under both roots, so that the denominator is not 0, nor the first steps.
        weight_decay: the weight decay coefficient.
        foreach: accepted for compatibility with torch, without effect.
        capturable, differentiable: must be False.
        maximize: whether to step along the gradient instead of against it.
    """

    stored = ("square_avg", "acc_delta")
    lr: float | Tensor = 1.0
    rho: float = 0.9
    eps: float = 1e-6
    weight_decay: float = 0
    foreach: bool | None = None

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate, the weights of the averages, and eps."""
        return {"rate": group["lr"], **weights(group["rho"]), "eps": group["eps"]}

    @staticmethod
    def formula(v: Values) -> None:
        """Compute a step with the formula of the class."""
        v.square_avg = moving_average(v.square_avg, v.grad.square(), v.beta, v.one_minus_beta)
        step = (v.acc_delta + v.eps).sqrt() / (v.square_avg + v.eps).sqrt() * v.grad
        v.acc_delta = moving_average(v.acc_delta, step.square(), v.beta, v.one_minus_beta)
        v.x = v.x - v.rate * step


class Adagrad(FormulaOptimizer):
    """Adagrad (Duchi et al. 2011): gradients divided by the root of the sum of all squares.

    At step t, with gradient `g`: `s = s + g**2`, and the parameter moves by
    `-lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)`.

    Args:
        params: parameters or groups.
        lr: the learning rate, non-negative.
        lr_decay: the decay coefficient of the learning rate.
        weight_decay: the weight decay coefficient.
        initial_accumulator_value: the initial value of the sums.
        eps: added to the denominator, so that it is not 0.
        foreach, fused: accepted for compatibility with torch, without effect.
        maximize: whether to step along the gradient instead of against it.
        capturable, differentiable: must be False.
    """

    stored = ("sum",)
    lr: float | Tensor = 1e-2
    lr_decay: float = 0
    weight_decay: float = 0
    initial_accumulator_value: float = 0
    eps: float = 1e-10
    foreach: bool | None = None
    _: KW_ONLY
    fused: bool | None = None

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the step count and the sum of squares."""
        start = float(group["initial_accumulator_value"])
        return {"step": 0, "sum": full_like(parameter.detach(), start)}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate at this step, and eps."""
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        return {"rate": rate, "eps": group["eps"]}

    @staticmethod
    def formula(v: Values) -> None:
        """Compute a step with the formula of the class."""
        v.sum = v.sum + v.grad.square()
        v.x = v.x - v.rate * v.grad / (v.sum.sqrt() + v.eps)


class ASGD(FormulaOptimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992).

    At step t, with gradient `g`, the parameter becomes `(1 - lambd * eta) * x - eta * g`, and then
    `eta`, initially `lr`, becomes `lr / (1 + lambd * lr * t)**alpha`. `state[parameter]["ax"]` is
    the last value of the parameter up to step `t0 + 2`, and then the mean of its values since.

    Args:
        params: parameters or groups.
        lr: the learning rate, non-negative.
        lambd: the decay coefficient of the rate and of the parameters.
        alpha: the exponent of the decay of the rate.
        t0: the mean starts with the value after step `t0 + 2`, as in torch.
        weight_decay: the coefficient of weight decay through the gradient.
        foreach: accepted for compatibility with torch, without effect.
        maximize: whether to step along the gradient instead of against it.
        differentiable, capturable: must be False.
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
        """Return the step count, the mean, and the rate and the weight of the first step."""
        return {**super().initial_state(parameter, group), "eta": float(group["lr"]), "mu": 1.0}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate, and the weight in the mean unless it is 1; store the next ones."""
        eta, mu = state["eta"], state["mu"]
        lr, lambd = group["lr"], group["lambd"]
        state["eta"] = lr / (1 + lambd * lr * state["step"]) ** group["alpha"]
        state["mu"] = 1 / max(1, state["step"] - group["t0"])
        return {"rate": eta, "decay": 1 - lambd * eta, **({} if mu == 1 else {"mu": mu})}

    @staticmethod
    def formula(v: Values) -> None:
        """Compute a step with the formula of the class."""
        v.x = v.decay * v.x - v.rate * v.grad
        v.ax = v.ax + v.mu * (v.x - v.ax) if hasattr(v, "mu") else v.x


class RMSprop(FormulaOptimizer):
    """RMSprop (Hinton 2012, lecture 6 of "Neural Networks for Machine Learning").

    With gradient `g`: `v = alpha * v + (1 - alpha) * g**2`, and the parameter moves by
    `-lr * g / (sqrt(v) + eps)`, or by `-lr` times a velocity that accumulates these quotients.

    Args:
        params: parameters or groups.
        lr: the learning rate, non-negative.
        alpha: the decay rate of the averages, from 0 to 1.
        eps: added to the denominator, so that it is not 0.
        weight_decay: the weight decay coefficient.
        momentum: the momentum factor.
        centered: whether to subtract the square of the mean gradient from `v`, which makes it the
            variance (Graves 2013, "Generating Sequences", equations 38 to 45).
        capturable, differentiable: must be False.
        foreach: accepted for compatibility with torch, without effect.
        maximize: whether to step along the gradient instead of against it.
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
        """Return the step count, the average, and the velocity and the mean if they are used."""
        used = {"momentum_buffer": group["momentum"], "grad_avg": group["centered"]}
        state = super().initial_state(parameter, group)
        return {name: value for name, value in state.items() if used.get(name, True)}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the rate, the weights of the averages, eps, and the momentum."""
        settings = {"rate": group["lr"], "eps": group["eps"], "momentum": group["momentum"]}
        return {**weights(group["alpha"]), **settings}

    @staticmethod
    def formula(v: Values) -> None:
        """Compute a step with the formula of the class."""
        v.square_avg = variance = moving_average(
            v.square_avg, v.grad.square(), v.beta, v.one_minus_beta
        )
        if hasattr(v, "grad_avg"):
            v.grad_avg = moving_average(v.grad_avg, v.grad, v.beta, v.one_minus_beta)
            variance = v.square_avg - v.grad_avg.square()
        step = v.grad / (variance.sqrt() + v.eps)
        if hasattr(v, "momentum_buffer"):
            v.momentum_buffer = step = v.momentum * v.momentum_buffer + step
        v.x = v.x - v.rate * step


class Rprop(FormulaOptimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993), for full-batch gradients.

    Each element has a step size, which is multiplied by the second of `etas` while its gradient
    keeps its sign, and by the first when the sign changes; the element then skips a step. It moves
    by the step size, against the sign of its gradient.

    Args:
        params: parameters or groups.
        lr: the initial step size, non-negative.
        etas: the factors that shrink step sizes, between 0 and 1, and grow them, above 1.
        step_sizes: the smallest and the largest step size.
        capturable, differentiable: must be False.
        foreach: accepted for compatibility with torch, without effect.
        maximize: whether to step along the gradient instead of against it.
    """

    stored = ("prev", "step_size")
    lr: float | Tensor = 1e-2
    etas: tuple[float, float] = (0.5, 1.2)
    step_sizes: tuple[float, float] = (1e-6, 50)

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the step count, the previous gradient, and the step sizes."""
        sizes = full_like(parameter.detach(), float(group["lr"]))
        return {**super().initial_state(parameter, group), "step_size": sizes}

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the factors and the bounds of step sizes."""
        names = ("shrink", "grow", "smallest", "largest")
        return dict(zip(names, (*group["etas"], *group["step_sizes"]), strict=True))

    @staticmethod
    def formula(v: Values) -> None:
        """Compute a step with the formula of the class."""
        product = v.grad * v.prev
        shrink: Any = where(product < 0, v.shrink, product + 1)  # 1 for 0, nan for nan
        factor: Any = where(product > 0, v.grow, shrink)
        v.step_size = minimum(maximum(v.step_size * factor, v.smallest), v.largest)
        v.prev = where(product < 0, 0.0, v.grad)
        v.x = v.x - v.prev.sign() * v.step_size
