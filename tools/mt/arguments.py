"""Parse the arguments of a command, with the docstring of its module as the help text."""

from __future__ import annotations

import argparse


def parser_of(command: str, documentation: str | None) -> argparse.ArgumentParser:
    """Return an argument parser whose help text is the docstring of a module.

    Args:
        command: the command as typed, such as `mt bench`.
        documentation: the docstring of its module; everything after the first paragraph is the
            epilog.
    """
    described, _, examples = (documentation or "").partition("\n\n")
    return argparse.ArgumentParser(
        prog=command,
        description=described,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def positive(text: str) -> int:
    """Convert an argument to a positive integer.

    Raises:
        ArgumentTypeError: it is not positive.
        ValueError: it is not an integer.
    """
    number = int(text)
    if number < 1:
        message = f"{number} is not positive"
        raise argparse.ArgumentTypeError(message)
    return number
