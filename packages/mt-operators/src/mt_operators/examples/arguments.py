"""What the commands of the examples take, checked before they start."""

from __future__ import annotations

import argparse


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
