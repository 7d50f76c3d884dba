"""Train one network on several backends, and compare the time that each takes.

python -m mt_fast.examples.compare spiral
python -m mt_fast.examples.compare xor --points 50 --hidden 10 --epochs 5 --backends simple fast

The network is that of stage 2, and does not depend on the backend. Backends add in different
orders, so that losses differ in their last digits. If steps are too large for a smooth descent, as
with `--rate 0.1`, each step makes such a difference larger.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import mt_tensor as mt
from mt_autodiff.examples.training import Epoch
from mt_operators.datasets import DATASETS, Dataset
from mt_operators.examples.arguments import add_choices, training_command
from mt_tensor.errors import BackendError
from mt_tensor.examples.network import Network
from mt_tensor.examples.training import accuracy, train


@dataclass(frozen=True, slots=True)
class Run:
    """A training run on one backend.

    Attributes:
        backend: its name.
        history: the result of each epoch.
        seconds: the time of each epoch; the first includes compiling, unless kernels are cached.
        accuracy: the fraction of points that the trained network classifies correctly.
    """

    backend: str
    history: list[Epoch]
    seconds: list[float]
    accuracy: float


def train_on(
    backend: str,
    dataset: Dataset,
    *,
    hidden: Sequence[int] = (100, 100),
    epochs: int = 50,
    rate: float = 0.03,
    seed: int = 0,
) -> Run:
    """Train a new network on a backend, and measure the time.

    Args:
        backend: the name of an installed backend.
        dataset: the points.
        hidden: the widths of the hidden layers.
        epochs: the number of steps.
        rate: the learning rate.
        seed: the seed of the initial weights, which are then the same on every backend.

    Raises:
        BackendError: the backend is unknown, or cannot be used on this machine.
        ValueError: a setting is invalid, or training diverged; see `train`.
    """
    with mt.use_backend(backend):
        network = Network(hidden=hidden, seed=seed)
        ends = [time.perf_counter()]
        history = train(
            network, dataset, epochs, rate, report=lambda epoch: ends.append(time.perf_counter())
        )
        seconds = [end - start for start, end in itertools.pairwise(ends)]
        return Run(backend, history, seconds, accuracy(network, dataset))


def largest_difference(one: Run, other: Run) -> float:
    """Return the largest difference between the losses of two training runs.

    Raises:
        ValueError: the runs have different numbers of epochs.
    """
    epochs = len(one.history), len(other.history)
    if epochs[0] != epochs[1]:
        raise ValueError(
            f"largest_difference: runs of {epochs[0]} and {epochs[1]} epochs cannot be compared: "
            "train both for the same number of epochs."
        )
    pairs = zip(one.history, other.history, strict=True)
    return max(abs(mine.loss - yours.loss) for mine, yours in pairs)


def main(arguments: list[str] | None = None) -> None:
    """Train on each backend, and print the time of an epoch, the loss and the accuracy."""
    parser = training_command(
        "python -m mt_fast.examples.compare",
        "Train the same network on several backends.",
        points=1000,
        epochs=300,
    )
    add_choices(parser, data="spiral", hidden=[100, 100], rate=0.03)
    parser.add_argument("--backends", nargs="+", default=["numpy", "fast"], help="the backends")
    options = parser.parse_args(arguments)
    dataset = DATASETS[options.data](options.points, options.seed)
    settings = {name: getattr(options, name) for name in ("hidden", "epochs", "rate", "seed")}
    runs: list[Run] = []
    try:
        for backend in options.backends:
            run = train_on(backend, dataset, **settings)
            runs.append(run)
            print(
                f"{backend:8} {1000 * median(run.seconds):8.2f} ms per epoch  "
                f"loss {run.history[-1].loss:.4f}  accuracy {run.accuracy:.0%}"
            )
    except (ValueError, BackendError) as error:
        parser.error(str(error))
    difference = max(largest_difference(runs[0], run) for run in runs)
    print(f"the losses differ by at most {difference:.1e}")


if __name__ == "__main__":
    main()
