"""Code shared by the commands: progress output and pictures."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from mt_autodiff.core.mode import no_grad
from mt_autodiff.examples.network import class_of
from mt_autodiff.examples.picture import check_picture, draw
from mt_autodiff.examples.training import Epoch, accuracy
from mt_operators import Module
from mt_operators.datasets import Dataset
from mt_operators.examples.text_plot import text_plot


def add_picture(parser: argparse.ArgumentParser) -> None:
    """Add the option `--picture` to a command."""
    parser.add_argument("--picture", type=_picture, help="where to write a PNG; needs matplotlib")


def _picture(text: str) -> Path:
    """Return the path of a picture if it can be written."""
    try:
        return check_picture(Path(text))
    except (ImportError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def print_every(count: int) -> Callable[[Epoch], None]:
    """Return a function that prints a line for the first epoch and for every `count`-th one."""

    def report(epoch: Epoch) -> None:
        if epoch.number == 1 or epoch.number % count == 0:
            print(f"epoch {epoch.number:4}  loss {epoch.loss:.4f}  accuracy {epoch.accuracy:4.0%}")

    return report


def show(
    network: Module, dataset: Dataset, history: list[Epoch], name: str, picture: Path | None
) -> None:
    """Show the decision boundary in the terminal or a PNG file, and print the training accuracy."""
    result = f"{name}: {accuracy(network, dataset):.0%} of {len(dataset)} points"
    with no_grad():
        if picture:
            picture.write_bytes(
                draw(dataset, lambda xs: [float(network(x)) for x in xs], history, result)
            )
        else:
            print(text_plot(dataset, lambda x: class_of(network, x)))
    print(result)
