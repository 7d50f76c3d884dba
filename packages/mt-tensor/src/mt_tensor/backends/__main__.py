"""`python -m mt_tensor.backends`: list the installed backends, and with --probe load them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mt_tensor.backends.listing import backends, contested


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the name, distribution and version of each backend, and with --probe its status."""
    parser = argparse.ArgumentParser(prog="python -m mt_tensor.backends", description=__doc__)
    parser.add_argument(
        "--probe", action="store_true", help="load the backends and show their status"
    )
    probe = parser.parse_args(arguments).probe
    rows: list[tuple[str, ...]] = [("name", "distribution", "version", "status")[: 3 + probe]]
    for info in backends().values():
        known = (info.name, info.distribution, info.version)
        rows.append((*known, info.status()) if probe else known)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
    for conflict in contested().values():
        print(conflict)


if __name__ == "__main__":
    main()
