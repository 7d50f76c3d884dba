"""Positions: what tells attention, which sees a set, in which order the steps come.

All take tensors whose last dimension are features. The one before it counts the steps, unless
`dim` says otherwise: it is 0 for (steps, batch, features).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn import init
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.settings import integer
from mt_nn.errors import InputError, SettingError
from mt_nn.utils.settings import check
from mt_tensor import DType, Tensor, cat, tensor, zeros
from mt_tensor.extending import cached_constants, require_tensors


class _Angles(Module):
    """What positions share that are angles, which grow from step to step.

    Args:
        features: size of the last dimension; even, for two of them share an angle.
        base: how slowly the last angles grow.
        dim: which dimension of the input counts the steps.
    """

    def __init__(self, features: int, base: float = 10000.0, dim: int = -2) -> None:
        super().__init__()
        check("base", base, base > 0, "positive")
        self.features, self.base, self.dim = _even(features), float(base), dim

    def _turns(self, input: Tensor, offset: int) -> Tensor:
        """Return the sine and cosine of each angle, shape (steps, features / 2, 2)."""
        steps = _steps(self, input, self.features, self.dim), self.features, self.base
        return _sent(integer("offset", offset, 0), *steps, input.dtype, input.backend)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"{self.features}, base={self.base}, dim={self.dim}"


class SinusoidalPositions(_Angles):
    """Sines and cosines of the position added to each step (Vaswani et al., 2017, section 3.5).

    Feature 2i of position p gets `sin(p / base**(2i / features))`, and feature 2i + 1 the cosine of
    the same angle. There is no limit to the number of steps, and nothing to learn.

    Args:
        features: size of the last dimension; even.
        base: how slowly the last features turn.
        dim: which dimension of the input counts the steps.
    """

    def forward(self, input: Tensor, offset: int = 0) -> Tensor:
        """Return the input with the positions added.

        Args:
            input: shape (*batch, steps, features).
            offset: the position of the first step.

        Raises:
            InputError: the shape does not fit, or the input holds no floating-point numbers.
        """
        turns = self._turns(input, offset)
        return input + _along(turns.flatten(1), input, self.dim)


class LearnedPositions(Module):
    """A learned vector added to each step.

    Args:
        max_steps: how many positions there are.
        features: size of the last dimension.
        dim: which dimension of the input counts the steps.

    Attributes:
        weight: shape (max_steps, features), normal with deviation 0.02 at first (Radford et al.,
            Language models are unsupervised multitask learners, 2019).
    """

    def __init__(self, max_steps: int, features: int, dim: int = -2) -> None:
        super().__init__()
        self.max_steps = integer("max_steps", max_steps, 1)
        self.features, self.dim = integer("features", features, 1), dim
        self.weight = Parameter(zeros(max_steps, features))
        init.normal_(self.weight, std=0.02)

    def forward(self, input: Tensor, offset: int = 0) -> Tensor:
        """Return the input with the vectors added.

        Args:
            input: shape (*batch, steps, features).
            offset: the position of the first step.

        Raises:
            InputError: the shape does not fit, or there are not so many positions.
        """
        steps = _steps(self, input, self.features, self.dim)
        end = integer("offset", offset, 0) + steps
        if end > self.max_steps:
            raise InputError(
                f"LearnedPositions has max_steps={self.max_steps} positions; {steps} step(s) from "
                f"{offset} on were given."
            )
        return input + _along(self.weight[offset:end], input, self.dim)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"{self.max_steps}, {self.features}, dim={self.dim}"


class RotaryPositions(_Angles):
    """Queries or keys turned by angles that grow with their position (Su et al., RoFormer, 2021).

    Features 2i and 2i + 1 are the coordinates of a point in a plane, which position p turns by
    `p / base**(2i / features)`. The product of a turned query and a turned key depends on how far
    apart they are, and not on where. To be called on queries and keys, and not on values.

    Args:
        features: size of the last dimension, that of one head; even.
        base: how slowly the last planes turn.
        dim: which dimension of the input counts the steps.
    """

    def forward(self, input: Tensor, offset: int = 0) -> Tensor:
        """Return the input, turned.

        Args:
            input: shape (*batch, steps, features).
            offset: the position of the first step.

        Raises:
            InputError: the shape does not fit, or the input holds no floating-point numbers.
        """
        turns = self._turns(input, offset)
        sines, cosines = (_along(each, input, self.dim) for each in turns.unbind(2))
        x, y = input[..., 0::2], input[..., 1::2]
        turned = (x * cosines - y * sines, x * sines + y * cosines)
        return cat([part.unsqueeze(-1) for part in turned], -1).flatten(-2)


@cached_constants(64)
def _sent(
    offset: int, steps: int, features: int, base: float, dtype: DType, backend: Any
) -> Tensor:
    """Return the sine and cosine of each angle, which are sent to a device once.

    It is the same tensor for the same arguments, which must not be changed.
    """
    speeds = base ** (-np.arange(0, features, 2) / features)
    angles = np.arange(offset, offset + steps)[:, None] * speeds
    return tensor(np.stack([np.sin(angles), np.cos(angles)], 2), dtype=dtype, backend=backend)


def _along(rows: Tensor, input: Tensor, dim: int) -> Tensor:
    """Return one row for each step in a shape that broadcasts to the input's."""
    return rows.view(rows.shape[0], *(1,) * (-1 - _from_the_end(input, dim) - 1), rows.shape[1])


def _from_the_end(input: Tensor, dim: int) -> int:
    return dim if dim < 0 else dim - input.ndim


def _steps(module: Any, input: Tensor, features: int, dim: int) -> int:
    """Return how many steps an input has.

    Raises:
        InputError: it has other features, or no steps.
    """
    require_tensors(type(module).__name__, input)
    fits = -input.ndim <= _from_the_end(input, dim) < -1 and input.shape[-1] == features
    if not fits or not input.is_floating_point():
        raise InputError(
            f"{type(module).__name__} takes floating-point numbers with {features} features in the "
            f"last dimension, and steps in dimension {dim}; shape {input.shape} and "
            f"{input.dtype.name} were given."
        )
    return input.shape[dim]


def _even(features: int) -> int:
    """Return a number of features, if they make pairs."""
    if integer("features", features, 2) % 2:
        raise SettingError(f"features must be even, as they are turned in pairs; got {features}.")
    return features
