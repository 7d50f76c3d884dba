"""Position encodings, since attention alone does not depend on the order of the steps.

All take tensors whose last dimension contains the features. By default, the dimension before it
contains the steps; for shape (steps, batch, features), pass `dim=0`.
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
from mt_tensor import DType, Tensor, stack, tensor, zeros
from mt_tensor.extending import cached_constants, require_tensors


class _Angles(Module):
    """Base class of encodings by angles that are proportional to the position.

    Args:
        features: size of the last dimension; even, since pairs of features share an angle.
        base: approximate ratio of the highest to the lowest frequency.
        dim: the dimension of the steps.
    """

    def __init__(self, features: int, base: float = 10000.0, dim: int = -2) -> None:
        super().__init__()
        check("base", base, base > 0, "positive")
        if integer("features", features, 2) % 2:
            raise SettingError(
                f"{type(self).__name__}: features must be even, since pairs share an angle; got "
                f"{features}."
            )
        self.features, self.base, self.dim = features, float(base), dim

    def _sines_and_cosines(self, input: Tensor, offset: int) -> Tensor:
        """Return the sine and cosine of each angle, shape (steps, features / 2, 2)."""
        settings = (_steps(self, input, self.features, self.dim), self.features, self.base)
        return _angles(integer("offset", offset, 0), *settings, input.dtype, input.backend)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{self.features}, base={self.base}, dim={self.dim}"


class SinusoidalPositions(_Angles):
    """Add sines and cosines of the position to each step (Vaswani et al. 2017, section 3.5).

    At position p, `sin(p / base**(2i / features))` is added to feature 2i, and the cosine of the
    same angle to feature 2i + 1. The number of steps is not limited, and there are no parameters.

    Args:
        features: size of the last dimension; even.
        base: approximate ratio of the highest to the lowest frequency.
        dim: the dimension of the steps.
    """

    def forward(self, input: Tensor, offset: int = 0) -> Tensor:
        """Return the input with the positions added.

        Args:
            input: shape (*batch, steps, features).
            offset: the position of the first step.

        Raises:
            InputError: the shape is invalid, or the input is not floating-point.
        """
        encoding = self._sines_and_cosines(input, offset).flatten(1)
        return input + _along(encoding, input, self.dim)


class LearnedPositions(Module):
    """Add a learned vector to each step.

    Args:
        max_steps: number of positions.
        features: size of the last dimension.
        dim: the dimension of the steps.

    Attributes:
        weight: shape (max_steps, features), initially normal with a standard deviation of 0.02
            (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners").
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
            InputError: the shape is invalid, or there are more than `max_steps` positions.
        """
        steps = _steps(self, input, self.features, self.dim)
        end = integer("offset", offset, 0) + steps
        if end > self.max_steps:
            raise InputError(
                f"LearnedPositions has max_steps={self.max_steps} positions; {steps} step(s) with "
                f"offset={offset} were given."
            )
        return input + _along(self.weight[offset:end], input, self.dim)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{self.max_steps}, {self.features}, dim={self.dim}"


class RotaryPositions(_Angles):
    """Rotate queries or keys by angles proportional to their position (Su et al. 2021, "RoFormer").

    At position p, features 2i and 2i + 1 are rotated as a point of a plane by the angle
    `p / base**(2i / features)`. The product of a rotated query and a rotated key depends only on
    their distance. Apply it to queries and keys, but not to values.

    Args:
        features: size of the last dimension, that of one head; even.
        base: approximate ratio of the highest to the lowest frequency.
        dim: the dimension of the steps.
    """

    def forward(self, input: Tensor, offset: int = 0) -> Tensor:
        """Return the rotated input.

        Args:
            input: shape (*batch, steps, features).
            offset: the position of the first step.

        Raises:
            InputError: the shape is invalid, or the input is not floating-point.
        """
        angles = self._sines_and_cosines(input, offset)
        sines, cosines = (_along(each, input, self.dim) for each in angles.unbind(2))
        x, y = input[..., 0::2], input[..., 1::2]
        return stack([x * cosines - y * sines, x * sines + y * cosines], -1).flatten(-2)


@cached_constants(64)
def _angles(
    offset: int, steps: int, features: int, base: float, dtype: DType, backend: Any
) -> Tensor:
    """Return the sine and cosine of each angle as a cached tensor, copied to a device once."""
    frequencies = base ** (-np.arange(0, features, 2) / features)
    angles = np.arange(offset, offset + steps)[:, None] * frequencies
    return tensor(np.stack([np.sin(angles), np.cos(angles)], 2), dtype=dtype, backend=backend)


def _along(rows: Tensor, input: Tensor, dim: int) -> Tensor:
    """Reshape a tensor with one row per step, so that it broadcasts to the input."""
    between = -2 - _negative(input, dim)
    return rows.view(rows.shape[0], *(1,) * between, rows.shape[1])


def _negative(input: Tensor, dim: int) -> int:
    return dim if dim < 0 else dim - input.ndim


def _steps(module: Any, input: Tensor, features: int, dim: int) -> int:
    """Return the number of steps of an input; raise InputError if it is invalid."""
    require_tensors(type(module).__name__, input)
    is_valid = -input.ndim <= _negative(input, dim) < -1 and input.shape[-1] == features
    if not is_valid or not input.is_floating_point():
        raise InputError(
            f"{type(module).__name__} takes a floating-point tensor with {features} features in "
            f"the last dimension, and steps in dimension {dim}; shape {input.shape} and "
            f"{input.dtype.name} were given."
        )
    return input.shape[dim]
