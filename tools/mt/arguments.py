"""Reading the arguments of a command that its module describes: a text, and below it examples."""

from __future__ import annotations

import argparse


def parser_of(command: str, documentation: str | None) -> argparse.ArgumentParser:
    """Return what reads the arguments, and says what the module says when it is asked for help.

    Args:
        command: what is typed, `mt fuzz`.
        documentation: the docstring of its module; what follows the first paragraph are examples.
    """
    described, _, examples = (documentation or "").partition("\n\n")
    return argparse.ArgumentParser(
        prog=command,
        description=described,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def positive(text: str) -> int:
    """Return an argument that is a whole number from 1 on.

    Raises:
        ArgumentTypeError: it is smaller.
        ValueError: it is no whole number.
    """
    number = int(text)
    if number < 1:
        message = f"{number} is not positive"
        raise argparse.ArgumentTypeError(message)
    return number
