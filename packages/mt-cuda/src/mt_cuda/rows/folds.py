"""Folds of short rows: a team of threads for each, instead of a block or a single thread.

The core gives a block to what is folded along memory, most of whose threads find nothing to do in
a row of a hundred elements, and one thread to a row of ten, whose neighbours then read elements far
from its own. Here, teams of at most a warp fold such rows, several in a block.
"""

from __future__ import annotations

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.kernel import Kernel, indented, stored_type
from mt_cuda.core.layout import Layout, lies_along
from mt_cuda.core.machine import Grid
from mt_cuda.core.reduction import Fold
from mt_cuda.core.tables import SPECIAL_CASES
from mt_cuda.rows.teams import Team

SHORTEST = 8
"""Elements of a row from which on threads share it: a GPU reads 32 bytes at once."""

WARP = 32
"""The most threads of a team."""

EACH = 16
"""Elements that a thread of a team folds at most; longer rows get a block."""


def folds_by_rows(_ops: CudaOps, kept: Layout, folded: Layout) -> bool:
    """Whether threads share a fold that is short, because it lies along memory."""
    return folded.size >= SHORTEST and lies_along(kept, folded)


def plan_rows(
    ops: CudaOps, fold: Fold, grid: Grid, length: int, numbers: tuple[int, ...]
) -> Plan | None:
    """Plan a launch in which teams fold; None unless the rows are whole and short."""
    outputs, chunks = grid
    team = _team(length, ops.machine.size.threads)
    if chunks > 1 or team.rows == 1 or length > team.size * EACH:
        return None
    return ops.plan(short_rows(fold, team), (team.blocks(outputs), 1), team.threads, numbers)


def short_rows(fold: Fold, team: Team) -> Kernel:
    """Return the kernel in which a team folds the elements of one output.

    Args:
        fold: operator, types and ranks; there is one chunk.
        team: as many threads as there are elements at most.
    """
    body = [
        f"totals = cuda.shared.array({team.threads}, {stored_type(fold.total)})",
        *team.begin(),
        "output = min(row, outputs - 1)  # threads that no row is left for fold the last one, too",
        "chunk = 0",
        *fold.first(),
        "i = lane",
        *fold.element(fold.begin()),
        f"i += {team.size}",
        "while i < length:",
        *indented(fold.element("total = combine(total, {})")),
        f"    i += {team.size}",
        *team.fold([("total", "combine", "totals")]),
        "if (row < outputs) & (lane == 0):",
        f"    {fold.last('total')}",
    ]
    return fold.kernel(team.name, body)


def _team(length: int, threads: int) -> Team:
    """Return teams of a warp, or of fewer threads where there are fewer elements."""
    size = min(WARP, threads)
    while size > length:
        size //= 2
    return Team(size, threads)


SPECIAL_CASES["folds_by_rows"] = folds_by_rows
SPECIAL_CASES["plan_rows"] = plan_rows
