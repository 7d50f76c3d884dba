"""A network of Scalars learns one of the course's data sets.

python -m mt_autodiff.examples.classify xor
python -m mt_autodiff.examples.classify spiral --hidden 16 16 --epochs 600 --picture spiral.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mt_autodiff.examples.network import Network, classify
from mt_autodiff.examples.picture import draw
from mt_autodiff.examples.training import Epoch, accuracy, train
from mt_autodiff.mode import no_grad
from mt_operators import Module
from mt_operators.datasets import DATASETS, Dataset
from mt_operators.examples.text_plot import text_plot


def main(arguments: list[str] | None = None) -> None:
    """Train, show the decision boundary, and print the training accuracy."""
    parser = argparse.ArgumentParser(
        prog="python -m mt_autodiff.examples.classify",
        description="Train a network of Scalars to tell two classes of points apart.",
    )
    parser.add_argument("data", nargs="?", default="xor", choices=DATASETS)
    parser.add_argument("--points", type=int, default=50, help="how many points (50)")
    parser.add_argument(
        "--hidden", type=int, nargs="*", default=[10], help="widths of the hidden layers (10)"
    )
    parser.add_argument("--epochs", type=int, default=300, help="how many steps (300)")
    parser.add_argument("--rate", type=float, default=0.2, help="learning rate (0.2)")
    parser.add_argument("--seed", type=int, default=0, help="of points and weights (0)")
    parser.add_argument("--picture", type=Path, help="where to write a PNG; needs matplotlib")
    options = parser.parse_args(arguments)
    try:
        dataset = DATASETS[options.data](options.points, options.seed)
        network = Network(hidden=options.hidden, seed=options.seed)
        history = train(
            network, dataset, options.epochs, lambda epoch: options.rate, report=print_epoch
        )
        show(network, dataset, history, options.data, options.picture)
    except (ValueError, ImportError, OSError) as error:
        parser.error(str(error))


def print_epoch(epoch: Epoch, every: int = 20) -> None:
    """Print a line for the first epoch, and for each `every` epochs."""
    if epoch.number == 1 or epoch.number % every == 0:
        print(f"epoch {epoch.number:4}  loss {epoch.loss:.4f}  accuracy {epoch.accuracy:4.0%}")


def show(
    network: Module, dataset: Dataset, history: list[Epoch], name: str, picture: Path | None
) -> None:
    """Show the decision boundary, in the terminal or in a PNG file, and the training accuracy."""
    result = f"{name}: {accuracy(network, dataset):.0%} of {len(dataset)} points"
    with no_grad():
        if picture:
            picture.write_bytes(draw(dataset, lambda x: float(network(x)), history, result))
        else:
            print(text_plot(dataset, lambda x: classify(network, x)))
    print(result)


if __name__ == "__main__":
    main()
