"""A network of tensors: each layer processes all points with one matrix product.

Modules and parameters are those of stage 0. A layer of Scalars has a parameter for each weight;
here one parameter holds all weights of a layer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import mt_tensor as mt
from mt_operators import Module, Parameter
from mt_tensor import Generator, Tensor


class Linear(Module):
    """A linear layer: weighted sums of all inputs, each with a bias.

    Args:
        inputs: the number of inputs.
        outputs: the number of outputs.
        generator: the generator of the initial values. Weights are uniform with variance
            `2 / inputs` (He et al. 2015), which preserves the magnitude of values through `relu`
            layers. Biases are uniform from -1 to 1, so the kinks are spread over the unit square.

    Raises:
        ValueError: there are no inputs, or no outputs.
    """

    def __init__(self, inputs: int, outputs: int, generator: Generator) -> None:
        super().__init__()
        if inputs < 1 or outputs < 1:
            raise ValueError(
                f"Linear() needs at least one input and one output; got {inputs} and {outputs}."
            )
        bound = math.sqrt(6.0 / inputs)
        spread = 2.0 * mt.rand(inputs, outputs, generator=generator) - 1.0
        self.weight = Parameter(bound * spread)
        self.bias = Parameter(2.0 * mt.rand(outputs, generator=generator) - 1.0)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the sums, shape (batch, outputs), of inputs of shape (batch, inputs)."""
        return inputs @ self.weight.value + self.bias.value  # type: ignore[no-any-return]


class Network(Module):
    """`Linear` layers with `relu` between them; the last one returns a single score.

    A positive score means class 1. The parameters are created on the current backend.

    Args:
        inputs: the number of coordinates of a point.
        hidden: the widths of the hidden layers; with none the boundary is a straight line.
        seed: the seed of the initial values.

    Raises:
        ValueError: `inputs` or the width of a hidden layer is less than 1.
    """

    def __init__(self, inputs: int = 2, hidden: Iterable[int] = (10,), seed: int = 0) -> None:
        super().__init__()
        generator = Generator().manual_seed(seed)
        widths = [inputs, *hidden, 1]
        self.layers = [Linear(a, b, generator) for a, b in itertools.pairwise(widths)]
        for number, layer in enumerate(self.layers):
            self.add_module(f"layer{number}", layer)

    def forward(self, points: Tensor) -> Tensor:
        """Return the score of each point, shape (batch,), for points of shape (batch, inputs)."""
        values = points
        for layer in self.layers[:-1]:
            values = layer(values).relu()
        scores: Tensor = self.layers[-1](values)
        return scores.squeeze(1)
