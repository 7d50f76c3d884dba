"""Split a reduction with few outputs into parts, which all threads compute.

The number of parts does not depend on the number of threads, so the result does not either; partial
results also keep rounding errors small.
"""

from __future__ import annotations

from dataclasses import replace

from mt_fast.core.loops import MIN_ROWS
from mt_fast.folds import kernels
from mt_fast.folds.kernels import step_of
from mt_fast.folds.plans import OUT, Dimension, Fold, Plan

MIN_PART = 16384
"""The minimum number of elements of a part."""

PARTS = 32
"""The largest number of parts."""

PARTIAL = OUT + 1
"""The storage of partial results in a plan."""


def split_plan(fold: Fold, parallel_from: int) -> Plan | None:
    """Return a plan that reduces the longest dimension in parts, and then their results.

    Return None if one step is enough, or if there are too many dimensions.
    """
    parts = _parts(fold) if fold.elements() >= parallel_from else 1
    if parts <= 1:
        return None
    position, longest = max(enumerate(fold.folded), key=lambda pair: pair[1].size)
    length, rest = divmod(longest.size, parts)
    outputs, contiguous = fold.outputs(), _contiguous(fold)

    def filled(size: int, lead: tuple[Dimension, ...], shift: int = 0, slot: int = 0) -> Fold:
        """Return the reduction that fills the slots of dimensions `lead`, starting at `slot`."""
        folded = list(fold.folded)
        folded[position] = replace(longest, size=size)
        return replace(
            fold,
            source=(fold.source[0], fold.source[1] + shift),
            out=(PARTIAL, slot * outputs),
            kept=(*lead, *contiguous),
            folded=tuple(folded),
        )

    step = length * longest.source
    folds = [filled(length, (Dimension(parts, step, outputs),))]
    if rest:
        folds.append(filled(rest, (), parts * step, parts))
    kept = tuple(
        Dimension(dim.size, partial.out, dim.out)
        for dim, partial in zip(fold.kept, contiguous, strict=True)
    )
    slots = Dimension(parts + (rest > 0), outputs)
    across = bool(kept) and kept[-1].source == kept[-1].out == 1
    last = replace(fold, source=(PARTIAL, 0), kept=kept, folded=(slots,), across=across)
    steps = [step_of(each, each.elements() >= parallel_from) for each in (*folds, last)]
    valid = tuple(step for step in steps if step is not None)
    return Plan(valid, (slots.size * outputs,)) if len(valid) == len(steps) else None


def _parts(fold: Fold) -> int:
    """Return the number of parts of a reduction."""
    units = fold.outputs() // kernels.COLUMNS if fold.across else fold.outputs()
    if units >= MIN_ROWS:
        return 1
    return min(PARTS, fold.elements() // MIN_PART, max(d.size for d in fold.folded) // 2)


def _contiguous(fold: Fold) -> list[Dimension]:
    """Return the kept dimensions with the strides of contiguous results."""
    kept: list[Dimension] = []
    step = 1
    for d in reversed(fold.kept):
        kept.insert(0, replace(d, out=step))
        step *= d.size
    return kept
