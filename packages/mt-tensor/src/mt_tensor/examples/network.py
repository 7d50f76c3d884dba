"""A network of tensors: a layer takes all points at once, as one product of matrices.

Modules and parameters are those of stage 0. A layer of Scalars has a parameter for each weight;
here all weights of a layer are one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import mt_tensor as mt
from mt_operators import Module, Parameter
from mt_tensor import Generator, Tensor


class Linear(Module):
    """Weighted sums of all inputs, each with a bias.

    Args:
        inputs: how many numbers go in.
        outputs: how many sums come out.
        generator: where the first weights come from: spread evenly, with a variance of `2 / inputs`
            (He et al. 2015), so that a `relu` layer passes on numbers as large as it is given. The
            first biases are spread from -1 to 1, so that the kinks lie all over the unit square.

    Raises:
        ValueError: there are no inputs, or no outputs.
    """

    def __init__(self, inputs: int, outputs: int, generator: Generator) -> None:
        super().__init__()
        if inputs < 1 or outputs < 1:
            raise ValueError(
                f"a layer needs an input and an output or more; {inputs} and {outputs} were given."
            )
        bound = math.sqrt(6.0 / inputs)
        spread = 2.0 * mt.rand(inputs, outputs, generator=generator) - 1.0
        self.weight = Parameter(bound * spread)
        self.bias = Parameter(2.0 * mt.rand(outputs, generator=generator) - 1.0)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the sums, shape (batch, outputs), of inputs of shape (batch, inputs)."""
        return inputs @ self.weight.value + self.bias.value  # type: ignore[no-any-return]


class Network(Module):
    """Layers of `Linear`, with `relu` between them; the last one yields a single score.

    A positive score means class 1. The parameters are made on the backend that is current.

    Args:
        inputs: how many numbers a point has.
        hidden: the widths of the layers between, none for a straight line.
        seed: for the same first weights again.
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
