"""The course's six data sets of points in the plane, in two classes, with networks of three stages.

`--model weights` are lines set by hand, without training; `scalars` is the network of stage 1,
which takes one point at a time; `tensors`, the default, uses layers of this package. Points for
validation and test are drawn from the same distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

import mt_nn as nn
from mt_autodiff.examples import network as of_scalars
from mt_autodiff.examples import training
from mt_nn.data import Dataset, TensorDataset
from mt_nn.errors import InputError
from mt_nn.functional import softmax
from mt_nn.jobs.classification import Answer, Classification
from mt_nn.jobs.job import Parts, Recipe
from mt_nn.train.trainer import Trainer
from mt_operators import Module, Parameter, StateDictError, datasets
from mt_operators.examples import manual
from mt_tensor import Tensor, is_grad_enabled, stack, tensor, zeros_like
from mt_tensor.extending import Array

# --- Classifiers of the stages before tensors -----------------------------------------------------


class WeightsByHand(Module):
    """Stage 0's network, whose weights were set by hand; it predicts classes only.

    The scores are the logarithms of the probabilities 1 and 0.
    """

    def __init__(self, data: str) -> None:
        super().__init__()
        self.network = manual.network_for(data)

    def forward(self, points: Tensor) -> Tensor:
        """Return the scores, shape (batch, 2), of points of shape (batch, 2)."""
        classes = [self.network((x1, x2)) for x1, x2 in points.tolist()]
        return tensor([[-math.inf, 0.0] if each else [0.0, -math.inf] for each in classes])


class Scalars(Module):
    """Stage 1's network, applied to one point at a time.

    The tensor of the scores is a leaf. A hook passes its gradient to the graphs of Scalars.
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

        def backward(gradient: Tensor) -> None:
            for score, upstream in zip(scores, gradient.tolist(), strict=True):
                score.backward(upstream)

        if is_grad_enabled():
            values.requires_grad_().register_hook(backward)
        return stack([zeros_like(values), values], 1)

    def state_dict(self, prefix: str = "") -> dict[str, Any]:
        """Return the values of all parameters by name, as Python numbers, which can be saved."""
        return {name: float(value) for name, value in super().state_dict(prefix).items()}


class GradientDescent(training.GradientDescent):
    """Stage 1's optimizer, with the interface that `Trainer` needs.

    Args:
        parameters: the parameters, whose values are Scalars.
        rate: the learning rate.
    """

    def __init__(self, parameters: Iterable[Parameter], rate: float) -> None:
        super().__init__(parameters)
        self.param_groups: list[dict[str, Any]] = [{"params": self.parameters, "lr": rate}]

    def step(self, rate: float | None = None) -> None:
        """Move every parameter against its derivative."""
        super().step(self.param_groups[0]["lr"] if rate is None else rate)

    def state_dict(self) -> dict[str, Any]:
        """Return the last step of each parameter."""
        return {"steps": list(self.steps)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the result of `state_dict`.

        Raises:
            StateDictError: the state is not one number per parameter.
        """
        steps = state["steps"]
        count = len(self.steps)
        if len(steps) != count or not all(isinstance(step, float) for step in steps):
            raise StateDictError(f"there must be {count} steps, one per parameter.")
        self.steps = list(steps)


# --- The jobs -------------------------------------------------------------------------------------


COUNTS = (1000, 500, 1000)
"""The numbers of points for training, validation and test."""


class Points(Classification):
    """Classify points in the plane.

    Attributes:
        data: the name of the data set.
        hidden: the widths of the layers of Scalars.
    """

    models: ClassVar = {
        "tensors": Recipe(epochs=30, batch_size=16, lr=0.01),
        "scalars": Recipe(epochs=30, batch_size=4, lr=0.01),
        "weights": Recipe(epochs=0, batch_size=16, lr=0.0),
    }
    classes = ("class 0", "class 1")
    samples = "points"
    mistake_columns = ("x1", "x2", "right class", "predicted class", "probability")
    data: ClassVar[str]
    hidden: ClassVar[tuple[int, ...]] = (10,)

    def read(self) -> Parts:
        """Draw the points, the same in every training."""
        drawn = [datasets.DATASETS[self.data](count, seed) for seed, count in enumerate(COUNTS)]
        training, validation, test = (TensorDataset(tensor(d.X), tensor(d.y)) for d in drawn)
        return self.in_batches(training, validation, test)

    def network(self) -> Module:
        """Return the network of the chosen stage."""
        if self.settings.model == "weights":
            return WeightsByHand(self.data)
        if self.settings.model == "scalars":
            return Scalars(self.hidden, self.settings.seed)
        return nn.Sequential(
            nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2)
        )

    def optimizer(self, network: Module) -> Any:
        """Return the optimizer."""
        if self.settings.model == "tensors":
            return super().optimizer(network)
        parameters = network.parameters() if self.settings.model == "scalars" else []
        return GradientDescent(parameters, self.settings.lr)

    def scheduler(self, optimizer: Any, steps: int) -> Any:
        """Return a scheduler for tensors; None for Scalars, whose rate is constant."""
        return super().scheduler(optimizer, steps) if self.settings.model == "tensors" else None

    def draw(self, figure: Any, trainer: Trainer, batch: Any) -> None:
        """Draw points, the predicted probability everywhere, and the decision boundary."""

        def scores(points: Array) -> Array:
            shares = softmax(trainer.predict([tensor(points, dtype="float32")]), 1)
            return np.asarray(shares[:, 1] - shares[:, 0])

        points, labels = map(np.asarray, batch)
        figure.suptitle("validation: points and predicted classes")
        draw_plane(figure.subplots(), points, labels, scores)

    def mistake(self, answer: Answer, samples: Dataset) -> tuple[Any, ...]:
        """Return a point, both classes, and the probability."""
        x1, x2 = samples[answer.sample][0].tolist()
        return x1, x2, answer.right, answer.predicted, answer.probability

    def read_input(self, text: str) -> Tensor:
        """Return the coordinates of a point."""
        return tensor(point_of(text))


CELLS = 60
"""The number of grid cells along each axis."""


def draw_plane(axes: Any, points: Array, labels: Array, scores: Callable[[Array], Array]) -> None:
    """Draw the scores over the plane, the boundary between the classes, and the points.

    Args:
        axes: the matplotlib axes to draw on.
        points: the points, shape (N, 2).
        labels: their classes, 0 or 1.
        scores: maps points to scores, positive for class 1.
    """
    margin = 0.05 * np.ptp(points, 0)
    margin[margin == 0] = 0.5
    first, second = np.linspace(points.min(0) - margin, points.max(0) + margin, CELLS).T
    cells = np.stack(np.meshgrid(first, second), -1)
    values = scores(cells.reshape(-1, 2)).reshape(CELLS, CELLS)
    reach = np.abs(values).max() or 1.0
    axes.contourf(
        first, second, values, levels=21, cmap="RdBu_r", vmin=-reach, vmax=reach, alpha=0.45
    )
    if values.min() < 0.0 < values.max():
        axes.contour(first, second, values, levels=[0.0], colors="black", linewidths=1.5)
    for label, (color, mark) in enumerate((("#2f6fb3", "o"), ("#d1622b", "s"))):
        x1, x2 = points[labels == label].T
        axes.scatter(x1, x2, c=color, marker=mark, edgecolors="white", s=42, label=f"class {label}")
    axes.set(xlabel="x1", ylabel="x2", aspect="equal")
    axes.legend(framealpha=0.9)


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


def _points(name: str, description: str) -> type[Points]:
    """Return the job of a data set."""
    about = f"points in the plane, {description}"
    return type(name.capitalize(), (Points,), {"data": name, "about": about, "__doc__": about})


class Spiral(Points):
    """Classify points on two arms of a spiral; there are no weights set by hand."""

    about = "points in the plane, on two arms of a spiral"
    models: ClassVar = {name: recipe for name, recipe in Points.models.items() if name != "weights"}
    data = "spiral"
    hidden = (16, 16)


POINTS: dict[str, type[Points]] = {
    "simple": _points("simple", "divided by a vertical line"),
    "diag": _points("diag", "divided by a diagonal"),
    "split": _points("split", "in a band and on its sides"),
    "xor": _points("xor", "in diagonally opposite quarters"),
    "circle": _points("circle", "in a circle and around it"),
    "spiral": Spiral,
}
"""The jobs by the names of their data sets."""
