"""Reductions of short rows: a team of threads for each, instead of a block or a single thread.

For contiguous rows the core uses a block per row, most of whose threads are idle for a row of a
hundred elements, or a thread per row for a row of ten, where adjacent threads then read distant
elements. Here, teams of at most a warp reduce such rows, several in a block.
"""

from __future__ import annotations

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.elements import stored_type
from mt_cuda.core.kernel import Kernel, indented
from mt_cuda.core.layout import Layout, lies_along
from mt_cuda.core.machine import Grid
from mt_cuda.core.reduction import Fold
from mt_cuda.core.tables import SPECIAL_CASES
from mt_cuda.rows.teams import Team

SHORTEST = 8
"""The minimum length of a row that several threads share: a GPU reads 32 bytes at once."""

WARP = 32
"""The maximum number of threads per team."""

EACH = 16
"""The maximum number of elements of a row per thread of a team; longer rows get a block."""


def folds_by_rows(_ops: CudaOps, kept: Layout, folded: Layout) -> bool:
    """Return whether threads share a short reduction, as its elements are adjacent in memory."""
    return folded.size >= SHORTEST and lies_along(kept, folded)


def plan_rows(
    ops: CudaOps, fold: Fold, grid: Grid, length: int, numbers: tuple[int, ...]
) -> Plan | None:
    """Plan a launch in which teams reduce rows; None if rows are long or split into chunks."""
    outputs, chunks = grid
    team = _team(length, ops.machine.size.threads)
    if chunks > 1 or team.rows == 1 or length > team.size * EACH:
        return None
    return ops.plan(short_rows(fold, team), (team.blocks(outputs), 1), team.threads, numbers)


def short_rows(fold: Fold, team: Team) -> Kernel:
    """Return the kernel in which a team reduces the elements of one output.

    Args:
        fold: operator, dtypes and ranks; there is one chunk.
        team: the teams, with at most as many threads as elements.
    """
    body = [
        f"totals = cuda.shared.array({team.threads}, {stored_type(fold.total)})",
        *team.begin(),
        "output = min(row, outputs - 1)  # threads without a row reduce the last one, too",
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
    """Return teams of a warp, or of fewer threads for fewer elements."""
    size = min(WARP, threads)
    while size > length:
        size //= 2
    return Team(size, threads)


SPECIAL_CASES["folds_by_rows"] = folds_by_rows
SPECIAL_CASES["plan_rows"] = plan_rows
