"""A chart of measurements: a bar for each row of the benchmark, and its target.

mt bench --backend fast --json rows.json
mt bench chart rows.json benchmark.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from mt.errors import ToolError

FASTER, SLOWER, TARGET = "#2a9d8f", "#e76f51", "#264653"


def draw(rows: list[dict[str, Any]], file: Path) -> None:
    """Draw rows, the first at the top; bars show the ratios of times on a logarithmic scale."""
    places = range(len(rows))
    ratios = [row["ratio"] for row in rows]
    figure = Figure(figsize=(9, 0.22 * len(rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    colors = [FASTER if ratio <= 1 else SLOWER for ratio in ratios]
    axes.barh(places, [ratio - 1 for ratio in ratios], left=1, color=colors, height=0.7)
    low, high = ([abs(row["quartiles"][i] - row["ratio"]) for row in rows] for i in (0, 1))
    axes.errorbar(ratios, places, xerr=[low, high], fmt="none", ecolor="#888888", elinewidth=0.8)
    axes.scatter([row["target"] for row in rows], places, marker="|", s=60, color=TARGET, zorder=3)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    ticks = [0.1, 0.2, 0.5, 1, 2]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(places, [row["name"] for row in rows], fontsize=7)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("time / torch's time (left of 1: faster than torch; | is the target)")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    with rc_context({"svg.hashsalt": "bench"}):  # identical rows give identical files
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def run(options: argparse.Namespace) -> None:
    """Read the rows and write the chart.

    Raises:
        ToolError: the file has no rows, or the chart cannot be written.
    """
    try:
        rows = json.loads(options.rows.read_text(encoding="utf-8"))
        draw(rows, options.picture)
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = (
            f"no picture can be made of {options.rows} in {options.picture} ({error}): "
            "it takes what `mt bench --json FILE` writes, and the name of a .svg or .png"
        )
        raise ToolError(message) from error
