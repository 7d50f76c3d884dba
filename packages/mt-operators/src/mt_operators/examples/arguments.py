"""Command-line arguments of the example programs of this stage and later ones.

Each command has its own defaults, since the stages differ in speed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mt_operators.datasets import DATASETS


def positive_int(text: str) -> int:
    """Parse a positive integer."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a positive integer, got {text}")
    return number


def positive_float(text: str) -> float:
    """Parse a positive finite number."""
    number = float(text)
    if not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a positive finite number, got {text}")
    return number


def training_command(
    prog: str, description: str, *, points: int, epochs: int
) -> argparse.ArgumentParser:
    """Return a parser with the options of all training commands: `--points`, `--epochs`, `--seed`.

    Args:
        prog: the command as the user types it.
        description: the description in the help text.
        points: the default number of points.
        epochs: the default number of steps.
    """
    parser = argparse.ArgumentParser(
        prog=prog, description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--points", type=positive_int, default=points, help="number of points")
    parser.add_argument("--epochs", type=positive_int, default=epochs, help="number of steps")
    parser.add_argument("--seed", type=int, default=0, help="seed of points and weights")
    return parser


def add_choices(
    parser: argparse.ArgumentParser, *, data: str, hidden: Sequence[int], rate: float
) -> None:
    """Add the options of the data set, the hidden layers and the learning rate.

    Args:
        parser: the parser of the command.
        data: the default data set.
        hidden: the default widths of the hidden layers.
        rate: the default learning rate.
    """
    parser.add_argument("data", nargs="?", default=data, choices=DATASETS, help="data set")
    parser.add_argument(
        "--hidden",
        type=positive_int,
        nargs="*",
        default=list(hidden),
        help="widths of the hidden layers",
    )
    parser.add_argument("--rate", type=positive_float, default=rate, help="learning rate")
