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
