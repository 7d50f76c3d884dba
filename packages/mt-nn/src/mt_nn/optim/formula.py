"""Optimizers whose step is an elementwise formula, compiled to one pass over the elements.

A formula reads and assigns values by name, as in the paper that defines it:

    v.exp_avg = moving_average(v.exp_avg, v.grad, v.beta, v.one_minus_beta)
    v.x = v.x - v.rate * v.exp_avg

`mt_tensor.fuse_in_place` compiles it, once per set of names.
"""

from __future__ import annotations

import functools
import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

from mt_nn.core.optimizer import Optimizer, decay_of, decayed, moving_average
from mt_nn.utils.declared import Declared
from mt_tensor import Tensor, fuse_in_place, zeros_like

State = dict[str, Any]
"""Values stored for a parameter."""

Group = dict[str, Any]
"""Parameters and their settings."""

Values = SimpleNamespace
"""Tensors and numbers by name."""

_DECAYS: tuple[Literal["coupled", "decoupled"], ...] = ("coupled", "decoupled")


class DeclaredOptimizer(Declared, Optimizer):
    """Base of optimizers that declare their settings as class attributes; see `Declared`."""

    kinds: ClassVar[Mapping[str, str]] = {}  # the default ones
    params: Iterable[Any]

    def _configure(self, settings: dict[str, Any]) -> None:
        Optimizer.__init__(self, settings.pop("params"), settings)


class FormulaOptimizer(DeclaredOptimizer):
    """Base of optimizers that are defined by a formula.

    A subclass defines `numbers` and `formula`, and names the tensors that it stores. The settings
    may determine which names exist; the formula may test for them, since it is compiled once per
    set of names.
    """

    stored: ClassVar[tuple[str, ...]] = ()
    """The names of the tensors in the state, which the formula updates; they start as zeros."""

    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False
    capturable: bool = False
    differentiable: bool = False

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the step count, and zeros for each stored tensor."""
        return {"step": 0, **{name: zeros_like(parameter) for name in self.stored}}

    def update(self, parameter: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Update one parameter and its state with the formula."""
        updated = {"x": parameter, **{k: state[k] for k in self.stored if k in state}}
        inputs = {"grad": grad, **self.numbers(state, group)}
        if group.get("weight_decay"):
            amount, decay = decay_of(group)
            inputs[str(decay)] = amount
        step = _compiled(self.formula, tuple(updated), tuple(inputs))
        step(*updated.values(), *inputs.values())

    @abstractmethod
    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the numbers that the formula reads, by name, computed in double precision.

        Numbers in the state may be updated here.
        """

    @staticmethod
    @abstractmethod
    def formula(v: Values) -> None:
        """Assign `v.x`, the parameter, and the stored tensors, from `v.grad` and the numbers."""


@functools.cache
def _compiled(
    formula: Callable[[Values], None], updated: tuple[str, ...], inputs: tuple[str, ...]
) -> Callable[..., None]:
    """Compile a formula, preceded by weight decay if an input is named after a kind of decay.

    Args:
        formula: reads and assigns values.
        updated: the names of the tensors that the formula assigns.
        inputs: the names of the other tensors and numbers that it reads.
    """
    names = (*updated, *inputs)

    def step(*arguments: Tensor) -> tuple[Tensor, ...]:
        v = Values(**dict(zip(names, arguments, strict=True)))
        for decay in _DECAYS:
            if decay in inputs:
                v.x, v.grad = decayed(v.x, v.grad, getattr(v, decay), decay)
        formula(v)
        return tuple(getattr(v, name) for name in updated)

    step.__name__ = step.__qualname__ = formula.__qualname__.replace(".formula", "").lower()
    step.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    )
    return fuse_in_place(*updated)(step)


def weights(beta: float, suffix: str = "") -> dict[str, float]:
    """Return the weights for `moving_average`; a suffix distinguishes those of a second average."""
    return {f"beta{suffix}": beta, f"one_minus_beta{suffix}": 1 - beta}


# --- Variants of Adam -----------------------------------------------------------------------------


class AdamLike(FormulaOptimizer):
    """Base of optimizers with Adam's settings and its two running averages."""

    stored = ("exp_avg", "exp_avg_sq")
    lr: float | Tensor = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the weights of both averages, the bias correction of the second, and eps."""
        beta1, beta2 = group["betas"]
        scale = 1 / (1 - beta2 ** state["step"])
        return {**weights(beta1), **weights(beta2, "_sq"), "scale": scale, "eps": group["eps"]}


def update_averages(v: Values) -> None:
    """Update the running averages of the gradient and of its square."""
    v.exp_avg = moving_average(v.exp_avg, v.grad, v.beta, v.one_minus_beta)
    v.exp_avg_sq = moving_average(v.exp_avg_sq, v.grad.square(), v.beta_sq, v.one_minus_beta_sq)


def adam_denominator(v: Values) -> Any:
    """Return the root of the bias-corrected second average, plus eps."""
    return (v.exp_avg_sq * v.scale).sqrt() + v.eps
