"""A network of Scalars: linear layers with `relu` between them.

Modules and parameters are those of stage 0. The parameters hold Scalars, so the network can be
differentiated.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Sequence

from mt_autodiff.core.scalar import Scalar
from mt_operators import Module


class Linear(Module):
    """A linear layer: weighted sums of all inputs, each with a bias.

    Args:
        inputs: the number of inputs.
        outputs: the number of outputs.
        rng: the generator of the initial values. Weights are uniform with variance `2 / inputs`
            (He et al. 2015), which preserves the size of the values through `relu` layers. Biases
            are uniform from -1 to 1, so the kinks are spread over the unit square.

    Raises:
        ValueError: there are no inputs, or no outputs.
    """

    def __init__(self, inputs: int, outputs: int, rng: random.Random) -> None:
        super().__init__()
        if inputs < 1 or outputs < 1:
            raise ValueError(
                f"Linear() needs at least one input and one output; got {inputs} and {outputs}."
            )
        bound = math.sqrt(6.0 / inputs)
        self.rows = [
            [
                self.add_parameter(f"weight_{row}_{column}", Scalar(rng.uniform(-bound, bound)))
                for column in range(inputs)
            ]
            for row in range(outputs)
        ]
        self.biases = [
            self.add_parameter(f"bias_{row}", Scalar(rng.uniform(-1.0, 1.0)))
            for row in range(outputs)
        ]

    def forward(self, inputs: Sequence[Scalar | float]) -> list[Scalar]:
        """Return one Scalar for each output."""
        return [
            sum((w.value * x for w, x in zip(row, inputs, strict=True)), start=bias.value)
            for row, bias in zip(self.rows, self.biases, strict=True)
        ]


class Network(Module):
    """`Linear` layers with `relu` between them; the last one returns a single score.

    A positive score means class 1.

    Args:
        inputs: the number of inputs.
        hidden: the widths of the hidden layers; with none the boundary is a straight line.
        seed: the seed of the initial values.
    """

    def __init__(self, inputs: int = 2, hidden: Iterable[int] = (10,), seed: int = 0) -> None:
        super().__init__()
        rng = random.Random(seed)
        widths = [inputs, *hidden, 1]
        self.layers = [Linear(a, b, rng) for a, b in itertools.pairwise(widths)]
        for number, layer in enumerate(self.layers):
            self.add_module(f"layer{number}", layer)

    def forward(self, inputs: Sequence[Scalar | float]) -> Scalar:
        """Return the score of a point."""
        values: Sequence[Scalar | float] = inputs
        for layer in self.layers[:-1]:
            values = [value.relu() for value in layer(values)]
        scores: list[Scalar] = self.layers[-1](values)
        return scores[0]


def class_of(network: Module, point: Sequence[float]) -> int:
    """Return the class that a network assigns to a point."""
    return int(float(network(point)) > 0.0)
