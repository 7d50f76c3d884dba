"""The course's six data sets of points in the plane, in two classes.

Points for validation and test are drawn from the same distribution.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import mt_nn as nn
from mt_nn.data import Dataset, TensorDataset
from mt_nn.errors import InputError
from mt_nn.jobs.classification import Classification
from mt_nn.jobs.job import Parts, Recipe
from mt_operators import Module, datasets
from mt_tensor import Tensor, tensor

COUNTS = (1000, 500, 1000)
"""The numbers of points for training, validation and test."""


class Points(Classification):
    """Classify points in the plane.

    Attributes:
        data: the name of the data set.
    """

    models: ClassVar = {"tensors": Recipe(epochs=30, batch_size=16, lr=0.01)}
    classes = ("class 0", "class 1")
    samples = "points"
    data: ClassVar[str]

    def read(self) -> Parts:
        """Draw the points, which are the same in every training run."""
        drawn = [datasets.DATASETS[self.data](count, seed) for seed, count in enumerate(COUNTS)]
        training, validation, test = (TensorDataset(tensor(d.X), tensor(d.y)) for d in drawn)
        return self.in_batches(training, validation, test)

    def network(self) -> Module:
        """Return a network with two hidden layers."""
        return nn.Sequential(
            nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2)
        )

    def listed(self, sample: int, samples: Dataset) -> Any:
        """Return the coordinates of a point."""
        x1, x2 = samples[sample][0].tolist()
        return f"{x1} {x2}"

    def read_input(self, text: str) -> Tensor:
        """Return the coordinates of a point."""
        return tensor(point_of(text))


def point_of(text: str) -> tuple[float, float]:
    """Convert a text to the coordinates of a point.

    Raises:
        InputError: the text is not two finite numbers.
    """
    try:
        x1, x2 = map(float, text.replace(",", " ").split())
    except ValueError:
        x1 = x2 = math.nan
    if not (math.isfinite(x1) and math.isfinite(x2)):
        raise InputError(
            f'a point must be two finite numbers in quotes, such as "0.2 0.7"; got {text!r}.'
        )
    return x1, x2


DESCRIPTIONS = {
    "simple": "divided by a vertical line",
    "diag": "divided by a diagonal",
    "split": "in a band and on its sides",
    "xor": "in diagonally opposite quarters",
    "circle": "in a circle and around it",
    "spiral": "on two arms of a spiral",
}


def _points(name: str) -> type[Points]:
    """Return the job of a data set."""
    about = f"points in the plane, {DESCRIPTIONS[name]}"
    return type(name.capitalize(), (Points,), {"data": name, "about": about, "__doc__": about})


POINTS = {name: _points(name) for name in DESCRIPTIONS}
"""The jobs by the names of their data sets."""
