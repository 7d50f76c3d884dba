"""The course's six sets of points of the plane in two classes, learnt by three stages.

`--model weights` are lines set by hand, which learn nothing; `scalars` is the network of stage 1,
point by point; `tensors`, the default, are layers of this package. Points are drawn anew for the
validation and for the test, by the rule of those to learn from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from mt_autodiff.examples.picture import draw_plane
from mt_nn.core.activation import ReLU
from mt_nn.core.containers import Sequential
from mt_nn.core.linear import Linear
from mt_nn.data import Dataset, TensorDataset
from mt_nn.errors import InputError
from mt_nn.functional import softmax
from mt_nn.jobs.classification import Answer, Classification
from mt_nn.jobs.earlier_stages import GradientDescent, Scalars, WeightsByHand
from mt_nn.jobs.job import Parts, Recipe
from mt_nn.jobs.tables import write_table
from mt_nn.train.trainer import Trainer
from mt_operators import Module, datasets
from mt_tensor import Tensor, no_grad, tensor

COUNTS = (1000, 500, 1000)
"""How many points there are to learn from, for the validation, and for the test."""


class Points(Classification):
    """Tells two classes of points of the plane apart.

    Attributes:
        data: the name of the set of points.
        hidden: the widths of the layers of Scalars.
    """

    models: ClassVar = {
        "tensors": Recipe(epochs=30, batch_size=16, lr=0.01),
        "scalars": Recipe(epochs=30, batch_size=4, lr=0.01),
        "weights": Recipe(epochs=0, batch_size=16, lr=0.0),
    }
    classes = ("class 0", "class 1")
    samples = "points"
    data: ClassVar[str]
    hidden: ClassVar[tuple[int, ...]] = (10,)

    def read(self) -> Parts:
        """Draw the points, the same ones in every training."""
        drawn = [datasets.DATASETS[self.data](count, seed) for seed, count in enumerate(COUNTS)]
        training, validation, test = (TensorDataset(tensor(d.X), tensor(d.y)) for d in drawn)
        return self.in_batches(training, validation, test)

    def network(self) -> Module:
        """Return a network of the stage that was chosen."""
        if self.settings.model == "weights":
            return WeightsByHand(self.data)
        if self.settings.model == "scalars":
            return Scalars(self.hidden, self.settings.seed)
        return Sequential(Linear(2, 32), ReLU(), Linear(32, 32), ReLU(), Linear(32, 2))

    def optimizer(self, network: Module) -> Any:
        """Return what changes the parameters."""
        if self.settings.model == "tensors":
            return super().optimizer(network)
        parameters = network.parameters() if self.settings.model == "scalars" else []
        return GradientDescent(parameters, self.settings.lr)

    def scheduler(self, optimizer: Any, steps: int) -> Any:
        """Return what changes the rate of tensors; that of Scalars stays what it is."""
        return super().scheduler(optimizer, steps) if self.settings.model == "tensors" else None

    def draw(self, figure: Any, trainer: Trainer, batch: Any) -> None:
        """Draw how sure the network is everywhere, the boundary, and points."""

        def scores(points: Sequence[datasets.Point]) -> list[float]:
            shares = softmax(trainer.predict([tensor(points)]), 1)
            values: list[float] = (shares[:, 1] - shares[:, 0]).tolist()
            return values

        points, labels = (part.tolist() for part in batch)
        figure.suptitle("validation: points, and what the network says of the plane")
        draw_plane(figure.subplots(), datasets.Dataset(tuple(points), tuple(labels)), scores)

    def write_mistakes(self, mistakes: Sequence[Answer], samples: Dataset, folder: Path) -> None:
        """Write a table of the mistakes."""
        rows = [
            (*samples[each.sample][0].tolist(), each.right, each.predicted, each.probability)
            for each in mistakes
        ]
        head = ("x1", "x2", "right class", "predicted class", "probability")
        write_table(folder / "mistakes.csv", [head, *rows])

    def predict(self, network: Module, text: str) -> str:
        """Return the classes of a point, which is two numbers."""
        with no_grad():
            scores: Tensor = network(tensor([point_of(text)]))
        return self.describe(scores[0])


def point_of(text: str) -> tuple[float, float]:
    """Return the point that two numbers are.

    Raises:
        InputError: there are more numbers, or fewer, or something else.
    """
    try:
        x1, x2 = map(float, text.replace(",", " ").split())
    except ValueError:
        x1 = x2 = math.nan
    if not (math.isfinite(x1) and math.isfinite(x2)):
        raise InputError(f'a point is two finite numbers in quotes, "0.2 0.7"; got {text!r}.')
    return x1, x2


class Simple(Points):
    """Class 1 is left of the middle."""

    about = "points of the plane, divided by an upright line"
    data = "simple"


class Diag(Points):
    """Class 1 is below a diagonal."""

    about = "points of the plane, divided by a diagonal"
    data = "diag"


class Split(Points):
    """Class 1 is on either side of a band."""

    about = "points of the plane, on a band and on its sides"
    data = "split"


class Xor(Points):
    """Class 1 is in two opposite quarters."""

    about = "points of the plane, in quarters that lie crosswise"
    data = "xor"


class Circle(Points):
    """Class 1 is outside of a circle."""

    about = "points of the plane, in a circle and around it"
    data = "circle"


class Spiral(Points):
    """The classes are two arms that wind around the middle; nobody has set weights for them."""

    about = "points of the plane, on two arms of a spiral"
    models: ClassVar = {name: recipe for name, recipe in Points.models.items() if name != "weights"}
    data = "spiral"
    hidden = (16, 16)
