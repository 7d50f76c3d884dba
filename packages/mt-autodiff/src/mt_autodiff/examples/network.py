"""A network of Scalars: layers of weighted sums with `relu` between them.

Modules and parameters are those of stage 0. Its parameters hold Scalars now, and that is all it
takes for the network to be differentiated.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Sequence

from mt_autodiff.core.scalar import Scalar
from mt_operators import Module


class Linear(Module):
    """Weighted sums of all inputs, each with a bias.

    Args:
        inputs: how many numbers go in.
        outputs: how many sums come out.
        rng: where the first weights come from: spread evenly, with a variance of `2 / inputs` (He
            et al. 2015), so that a `relu` layer passes on numbers as large as it is given. The
            first biases are spread from -1 to 1, so that the kinks lie all over the unit square.

    Raises:
        ValueError: there are no inputs, or no outputs.
    """

    def __init__(self, inputs: int, outputs: int, rng: random.Random) -> None:
        super().__init__()
        if inputs < 1 or outputs < 1:
            raise ValueError(
                f"a layer needs an input and an output or more; {inputs} and {outputs} were given."
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
    """Layers of `Linear`, with `relu` between them; the last one yields a single score.

    A positive score means class 1.

    Args:
        inputs: how many numbers go in.
        hidden: the widths of the layers between, none for a straight line.
        seed: for the same first weights again.
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
    """Return the class that a network gives to a point."""
    return int(float(network(point)) > 0.0)
