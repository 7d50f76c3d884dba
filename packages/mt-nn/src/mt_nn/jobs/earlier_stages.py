"""Classifiers of points from the stages before tensors, as the `Trainer` takes them.

It gives them points as tensors and takes scores of both classes. Networks, optimizer and weights
are those of the examples of stages 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from mt_autodiff.examples import network as of_scalars
from mt_autodiff.examples import training
from mt_operators import Module, Parameter, StateDictError
from mt_operators.examples import manual
from mt_tensor import Tensor, is_grad_enabled, stack, tensor, zeros_like


class WeightsByHand(Module):
    """Stage 0's network, whose weights were found by thinking: it says a class, and no more.

    The scores are logarithms of probabilities, 1 for the class that it says and 0 for the other.
    """

    def __init__(self, data: str) -> None:
        super().__init__()
        self.network = manual.network_for(data)

    def forward(self, points: Tensor) -> Tensor:
        """Return the scores, shape (batch, 2), of points of shape (batch, 2)."""
        classes = [self.network((x1, x2)) for x1, x2 in points.tolist()]
        return tensor([[-math.inf, 0.0] if each else [0.0, -math.inf] for each in classes])


class Scalars(Module):
    """Stage 1's network, through which each point goes alone.

    The tensor of the scores is a leaf. When its gradient has arrived there, the graphs of Scalars
    behind it take over, each with its share.
    """

    def __init__(self, hidden: Iterable[int], seed: int) -> None:
        super().__init__()
        self.network = of_scalars.Network(hidden=hidden, seed=seed)

    def forward(self, points: Tensor) -> Tensor:
        """Return the scores, shape (batch, 2), of points of shape (batch, 2).

        Class 0 has the score 0, so that softmax is the sigmoid of the network's only score.
        """
        scores = [self.network(point) for point in points.tolist()]
        values = tensor([score.data for score in scores])

        def go_on(gradient: Tensor) -> None:
            for score, share in zip(scores, gradient.tolist(), strict=True):
                score.backward(share)

        if is_grad_enabled():
            values.requires_grad_().register_hook(go_on)
        return stack([zeros_like(values), values], 1)

    def state_dict(self, prefix: str = "") -> dict[str, Any]:
        """Return the values of all parameters by name, as plain numbers, which files hold."""
        return {name: float(value) for name, value in super().state_dict(prefix).items()}


class GradientDescent:
    """Stage 1's optimizer, with its rate and its state where the `Trainer` looks for them.

    Args:
        parameters: what to train; each holds a Scalar.
        rate: how far to step.
    """

    def __init__(self, parameters: Iterable[Parameter], rate: float) -> None:
        self.descent = training.GradientDescent(parameters)
        self.param_groups: list[dict[str, Any]] = [{"params": self.descent.parameters, "lr": rate}]

    def zero_grad(self) -> None:
        """Forget the derivatives."""
        self.descent.zero_grad()

    def step(self) -> None:
        """Move every parameter against its derivative."""
        self.descent.step(self.param_groups[0]["lr"])

    def state_dict(self) -> dict[str, Any]:
        """Return the last step of each parameter."""
        return {"steps": list(self.descent.steps)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` has returned.

        Raises:
            StateDictError: it is not one number for each parameter.
        """
        steps = state["steps"]
        count = len(self.descent.steps)
        if len(steps) != count or not all(isinstance(step, float) for step in steps):
            raise StateDictError(f"there must be {count} steps, one for each parameter.")
        self.descent.steps = list(steps)
