"""The comparison: a row for each program, with the times of both sides and their ratio."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import statistics
from pathlib import Path

from mt.bench.measuring import Side, measured
from mt.bench.workloads import WORKLOADS
from mt.errors import ToolError


def run(options: argparse.Namespace) -> None:
    """Measure, print the table, and write it as JSON if requested.

    Raises:
        ToolError: no row matches, the file cannot be written, or a side cannot measure.
    """
    names = names_of(options.group, options.pattern)
    if options.json:
        write(options.json, "", "a")  # fail before measuring, but keep the existing content
    width = max(map(len, names))
    columns = f"ours {options.against:>12}  ratio  median (quartiles)     target"
    print(f"{f'backend {options.backend}':{width}}         {columns}")
    rows = []
    with (
        Side("mt_tensor", options.threads[-1], options.backend) as ours,
        Side(options.against, options.threads[-1], options.backend) as other,
    ):
        for name in names:
            rows.append(measured(ours, other, name, max(options.rounds, 2)))
            print(f"{name:{width}} {rows[-1]}", flush=True)
    least, usual = (
        statistics.geometric_mean(getattr(row, of) for row in rows) for of in ("ratio", "median")
    )
    print(f"geometric mean of {len(rows)} ratios: {least:.2f}; of medians: {usual:.2f}")
    if options.json:
        write(options.json, json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n")


def names_of(group: str, pattern: str) -> list[str]:
    """Return the rows of a group whose names contain a text or match a pattern.

    Raises:
        ToolError: there are none; the message lists all rows.
    """
    there = [name for name, workload in WORKLOADS.items() if workload.group == group]
    try:
        expression = re.compile(pattern)
    except re.error:
        expression = re.compile(re.escape(pattern))
    names = [name for name in there if pattern in name or expression.search(name)]
    if not names:
        message = (
            f"no row of the group {group!r} matches {pattern!r}; there are: {'; '.join(there)}"
        )
        raise ToolError(message)
    return names


def write(file: Path, text: str, mode: str = "w") -> None:
    """Write a file, or append to it with the mode "a".

    Raises:
        ToolError: it cannot be written.
    """
    try:
        with file.open(mode, encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        message = f"{file} cannot be written ({error.strerror}): choose another place"
        raise ToolError(message) from error
