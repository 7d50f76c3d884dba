"""The comparison: a row for each program, with the times of all sides and their ratio."""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
from collections.abc import Iterator
from contextlib import ExitStack

from mt.bench.measuring import Row, Side, measured
from mt.bench.workloads import WORKLOADS
from mt.errors import ToolError
from mt.torch_environment import missing


def run(options: argparse.Namespace) -> None:
    """Measure, and print the table, or each row as JSON.

    Raises:
        ToolError: no row matches, or a side cannot measure.
    """
    names = names_of(options.group, options.pattern)
    width = max(map(len, names))
    alone = options.group in ("calls", "programs")
    for threads in options.threads or [1 if alone else os.cpu_count() or 1]:
        rows: list[Row] = []
        for row in _rows(names, threads, options):
            if options.json:
                print(json.dumps({"threads": threads, **row.as_json()}), flush=True)
                continue
            if not rows:
                head = f"backend {options.backend}, {threads} thread{'s' * (threads > 1)}"
                sides = "".join(f" {side:>14}" for side in row.sides)
                print(f"{head:{width}}{sides}  ratio  median (quartiles)     target")
            rows.append(row)
            print(f"{row.name:{width}}{row}", flush=True)
            if options.group == "steps":
                peaks = "".join(f" {peak / 2**20:12.0f}MB" for peak in row.memory)
                print(f"{'  peak memory':{width}}{peaks}", flush=True)
        if rows:
            least = statistics.geometric_mean(row.ratio for row in rows)
            usual = statistics.geometric_mean(row.quartiles[1] for row in rows)
            print(f"geometric mean of {len(rows)} ratios: {least:.2f}; of medians: {usual:.2f}")


def _rows(names: list[str], threads: int, options: argparse.Namespace) -> Iterator[Row]:
    """Yield the measurements; a step has processes of its own, because of their peak memory."""
    steps = options.group == "steps"
    for together in [[name] for name in names] if steps else [names]:
        ours, rivals = _sides(together[0], options)
        with ExitStack() as stack:
            sides = [
                stack.enter_context(Side(side, threads, options.backend))
                for side in (*ours, *rivals)
            ]
            for name in together:
                yield measured(sides, len(rivals), name, options.rounds)


def _sides(name: str, options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the sides of the project, and those that it is compared with."""
    if options.group != "steps":
        return ["mt_tensor"], [options.against]
    if options.against == "mt_tensor":
        return ["mt_tensor+compile"], ["mt_tensor"]
    others = ["torch", "torch+compile"]
    if not missing(["jax"]):
        from mt.bench.in_jax import STEPS

        others += ["jax"] * (name in STEPS)
    return ["mt_tensor+compile", "mt_tensor"], others


def names_of(group: str, pattern: str) -> list[str]:
    """Return the rows of a group whose names contain a text or match a pattern.

    Raises:
        ToolError: no row matches; the message lists all rows.
    """
    there = [name for name, workload in WORKLOADS.items() if workload.group == group]
    try:
        expression = re.compile(pattern)
    except re.error:
        expression = re.compile(re.escape(pattern))
    names = [name for name in there if pattern in name or expression.search(name)]
    if not names:
        message = (
            f"no row of the group {group!r} matches {pattern!r}; the rows are: {'; '.join(there)}"
        )
        raise ToolError(message)
    return names
