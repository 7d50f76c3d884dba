"""What the commands of the examples take, in this stage and later ones, checked before they start.

Each command has defaults of its own: stages differ in how many points they can learn in a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mt_operators.datasets import DATASETS


def positive_int(text: str) -> int:
    """Return a whole number that is 1 or more."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"1 or more is needed; {text} was given")
    return number


def positive_float(text: str) -> float:
    """Return a finite number above 0."""
    number = float(text)
    if not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"a finite number above 0 is needed; {text} was given")
    return number


def training_command(
    prog: str, description: str, *, points: int, epochs: int
) -> argparse.ArgumentParser:
    """Return a parser of what every training takes: `--points`, `--epochs` and `--seed`.

    Args:
        prog: how the command is called.
        description: what it does.
        points: how many points there are by default.
        epochs: how many steps are taken by default.
    """
    parser = argparse.ArgumentParser(
        prog=prog, description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--points", type=positive_int, default=points, help="how many points")
    parser.add_argument("--epochs", type=positive_int, default=epochs, help="how many steps")
    parser.add_argument("--seed", type=int, default=0, help="of points and weights")
    return parser


def add_choices(
    parser: argparse.ArgumentParser, *, data: str, hidden: Sequence[int], rate: float
) -> None:
    """Let a command choose what is learned, by which network, in which steps.

    Args:
        parser: of the command.
        data: the name of the data set by default.
        hidden: the widths of the layers between, by default.
        rate: how far to step by default.
    """
    parser.add_argument("data", nargs="?", default=data, choices=DATASETS, help="what to learn")
    parser.add_argument(
        "--hidden",
        type=positive_int,
        nargs="*",
        default=list(hidden),
        help="widths of the hidden layers",
    )
    parser.add_argument("--rate", type=positive_float, default=rate, help="how far to step")
