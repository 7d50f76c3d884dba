"""What the commands have in common: their options, and how they tell of the training."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from mt_autodiff.examples.network import class_of
from mt_autodiff.examples.picture import check_picture, draw
from mt_autodiff.examples.training import Epoch, accuracy
from mt_autodiff.mode import no_grad
from mt_operators import Module
from mt_operators.datasets import Dataset
from mt_operators.examples.arguments import positive_int
from mt_operators.examples.text_plot import text_plot


def command_line(name: str, description: str, points: int, epochs: int) -> argparse.ArgumentParser:
    """Return a parser of the options that every command has.

    Args:
        name: the command's module.
        description: what it does.
        points: how many points there are by default.
        epochs: how many steps are taken by default.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m mt_autodiff.examples.{name}",
        description=description,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--points", type=positive_int, default=points, help="how many points")
    parser.add_argument("--epochs", type=positive_int, default=epochs, help="how many steps")
    parser.add_argument("--seed", type=int, default=0, help="of points and weights")
    parser.add_argument("--picture", type=_picture, help="where to write a PNG; needs matplotlib")
    return parser


def _picture(text: str) -> Path:
    """Return where to write a picture, if that is possible."""
    try:
        return check_picture(Path(text))
    except (ImportError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def print_every(count: int) -> Callable[[Epoch], None]:
    """Return what prints a line for the first epoch, and for each `count` epochs."""

    def report(epoch: Epoch) -> None:
        if epoch.number == 1 or epoch.number % count == 0:
            print(f"epoch {epoch.number:4}  loss {epoch.loss:.4f}  accuracy {epoch.accuracy:4.0%}")

    return report


def show(
    network: Module, dataset: Dataset, history: list[Epoch], name: str, picture: Path | None
) -> None:
    """Show the decision boundary, in the terminal or in a PNG file, and the training accuracy."""
    result = f"{name}: {accuracy(network, dataset):.0%} of {len(dataset)} points"
    with no_grad():
        if picture:
            picture.write_bytes(draw(dataset, lambda x: float(network(x)), history, result))
        else:
            print(text_plot(dataset, lambda x: class_of(network, x)))
    print(result)
