"""Optimizers whose step is a formula over the elements of a parameter, computed in one pass.

A formula reads and sets values by name, as in the paper it comes from:

    v.exp_avg = follow(v.exp_avg, v.grad, v.kept, v.taken)
    v.x = v.x - v.rate * v.exp_avg

`mt_tensor.fuse_in_place` compiles it, once for each set of names.
"""

from __future__ import annotations

import functools
import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

from mt_nn.core.optimizer import Optimizer, decay_of, decayed, follow
from mt_nn.utils.declared import Declared
from mt_tensor import Tensor, fuse_in_place, zeros_like

State = dict[str, Any]
"""Values stored for a parameter."""

Group = dict[str, Any]
"""Parameters, and their settings."""


class Values(SimpleNamespace):
    """Tensors and numbers by name."""


Formula = Callable[[Values], None]
DECAYS: tuple[Literal["coupled", "decoupled"], ...] = ("coupled", "decoupled")


class DeclaredOptimizer(Declared, Optimizer):
    """An optimizer that declares its settings; see `Declared`."""

    kinds: ClassVar[Mapping[str, str]] = {}  # the usual ones
    params: Iterable[Any]

    def _configure(self, settings: dict[str, Any]) -> None:
        Optimizer.__init__(self, settings.pop("params"), settings)


class FormulaOptimizer(DeclaredOptimizer):
    """An optimizer that is given by a formula.

    A subclass defines `numbers` and `formula`, and names the tensors that it stores. Whether a name
    is there may depend on the settings: the formula may test that, since it runs once for each set
    of names.
    """

    stored: ClassVar[tuple[str, ...]] = ()
    """The names of tensors in the state, which the formula changes; at first, they are zeros."""

    decays: ClassVar[bool] = True
    """Whether weight decay is applied before the formula; else the formula applies it."""

    def initial_state(self, parameter: Tensor, group: Group) -> State:
        """Return the number of steps, and zeros for each tensor that is stored."""
        return {"step": 0, **{name: zeros_like(parameter) for name in self.stored}}

    def update(self, parameter: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Change one parameter, and what is stored for it, by the formula."""
        changed = {"x": parameter}
        for name in self.stored:
            if name in state:
                changed[name] = state[name]
        given = {"grad": grad, **self.numbers(state, group)}
        if self.decays and group["weight_decay"]:
            amount, decay = decay_of(group)
            given[str(decay)] = amount
        change(self.formula, changed, given)

    @abstractmethod
    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return the numbers that the formula reads, by name, computed in double precision.

        What the state stores for the next step, besides tensors, may be changed here.
        """

    @staticmethod
    @abstractmethod
    def formula(v: Values) -> None:
        """Set `v.x`, the parameter, and what is stored, from these, `v.grad` and the numbers."""


def change(formula: Formula, changed: Mapping[str, Tensor], given: Mapping[str, Any]) -> None:
    """Change tensors in place by a formula.

    Args:
        formula: reads and sets values, after weight decay if a number is called as one of `DECAYS`.
        changed: the tensors that it sets, by name.
        given: the tensors and numbers that it reads beside these.
    """
    step = _compiled(formula, tuple(changed), tuple(given))
    step(*changed.values(), *given.values())


@functools.cache
def _compiled(
    formula: Formula, changed: tuple[str, ...], given: tuple[str, ...]
) -> Callable[..., None]:
    names = (*changed, *given)

    def step(*arguments: Tensor) -> tuple[Tensor, ...]:
        v = Values(**dict(zip(names, arguments, strict=True)))
        for decay in DECAYS:
            if decay in given:
                v.x, v.grad = decayed(v.x, v.grad, getattr(v, decay), decay)
        formula(v)
        return tuple(getattr(v, name) for name in changed)

    step.__name__ = step.__qualname__ = formula.__qualname__.replace(".formula", "").lower()
    step.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    )
    return fuse_in_place(*changed)(step)


def weights(beta: float) -> dict[str, float]:
    """Return the numbers for `follow`: what is kept of a running average, and what is taken."""
    return {"kept": beta, "taken": 1 - beta}


def other_weights(beta: float) -> dict[str, float]:
    """Return the numbers for another average: that of squares, or in the sign of a step."""
    return {"kept_other": beta, "taken_other": 1 - beta}


# --- What relatives of Adam share -----------------------------------------------------------------


class AdamLike(FormulaOptimizer):
    """An optimizer with Adam's settings, and its averages of gradients and of their squares."""

    stored = ("exp_avg", "exp_avg_sq")
    lr: float | Tensor = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0

    def numbers(self, state: State, group: Group) -> dict[str, float]:
        """Return what the averages need."""
        beta1, beta2 = group["betas"]
        scale = 1 / (1 - beta2 ** state["step"])
        return {**weights(beta1), **other_weights(beta2), "scale": scale, "eps": group["eps"]}


def move_averages(v: Values) -> None:
    """Let both averages follow the gradient."""
    v.exp_avg = follow(v.exp_avg, v.grad, v.kept, v.taken)
    v.exp_avg_sq = follow(v.exp_avg_sq, v.grad.square(), v.kept_other, v.taken_other)


def adam_size(v: Values) -> Any:
    """Return what Adam divides by: the corrected size of recent gradients."""
    return (v.exp_avg_sq * v.scale).sqrt() + v.eps
