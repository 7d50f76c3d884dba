"""Split a reduction with few outputs into parts, which all threads fold.

The number of parts does not depend on the number of threads, so the result does not either; partial
results also keep rounding errors small.
"""

from __future__ import annotations

from dataclasses import replace

from mt_fast.core.reductions import FEW
from mt_fast.folds import kernels
from mt_fast.folds.kernels import steps_of
from mt_fast.folds.plans import NESTED, OUT, Dimension, Fold, Plan, Step
from mt_tensor.extending import size_of

SHARE = 16384
"""A fold is not split into parts of fewer elements than this."""

PARTS = 32
"""A fold is split into at most this many parts."""

PARTIAL = OUT + 1
"""The storage of partial results in a plan."""


def split_plan(fold: Fold, parallel_from: int) -> Plan | None:
    """Return a plan of two steps or more for a reduction; None if one is enough."""
    if len(fold.folded) > NESTED:
        return _inner_first(fold, parallel_from)
    parts = _parts(fold) if fold.elements() >= parallel_from else 1
    return _in_parts(fold, parts, parallel_from) if parts > 1 else None


def _parts(fold: Fold) -> int:
    """Return into how many parts to split a fold."""
    units = fold.outputs() // kernels.COLUMNS if fold.across else fold.outputs()
    if units >= FEW:
        return 1
    return min(PARTS, fold.elements() // SHARE, max(d.size for d in fold.folded) // 2)


def _in_parts(fold: Fold, parts: int, parallel_from: int) -> Plan | None:
    """Fold the longest folded dimension in parts, and then fold the parts' results."""
    position, longest = max(enumerate(fold.folded), key=lambda pair: pair[1].size)
    length, rest = divmod(longest.size, parts)
    outputs = fold.outputs()

    def some(size: int) -> tuple[Dimension, ...]:
        folded = list(fold.folded)
        folded[position] = replace(longest, size=size)
        return tuple(folded)

    chunks = Dimension(parts, length * longest.source, outputs)
    folds = [_filled(fold, (chunks,), some(length))]
    if rest:
        folds.append(_filled(fold, (), some(rest), parts * length * longest.source, parts))
    return _plan(fold, folds, parts + (rest > 0), parallel_from)


def _inner_first(fold: Fold, parallel_from: int) -> Plan | None:
    """Fold the innermost dimensions, and then the others."""
    outer, inner = fold.folded[:-NESTED], fold.folded[-NESTED:]
    lead: list[Dimension] = []
    step = fold.outputs()
    for d in reversed(outer):
        lead.insert(0, replace(d, out=step))
        step *= d.size
    slots = size_of(d.size for d in outer)
    return _plan(fold, [_filled(fold, tuple(lead), inner)], slots, parallel_from)


def _plan(fold: Fold, folds: list[Fold], slots: int, parallel_from: int) -> Plan | None:
    """Return the plan that fills slots for each output and then folds these."""
    kept = tuple(
        Dimension(whole.size, inner.out, whole.out)
        for whole, inner in zip(fold.kept, _contiguous(fold), strict=True)
    )
    slotted = Dimension(slots, fold.outputs())
    across = bool(kept) and kept[-1].source == kept[-1].out == 1
    last = replace(fold, source=(PARTIAL, 0), kept=kept, folded=(slotted,), across=across)
    steps: list[Step] = []
    for each in (*folds, last):
        more = steps_of(each, each.elements() >= parallel_from)
        if more is None:
            return None
        steps += more
    return Plan(tuple(steps), (slots * fold.outputs(),))


def _filled(
    fold: Fold,
    lead: tuple[Dimension, ...],
    folded: tuple[Dimension, ...],
    shift: int = 0,
    slot: int = 0,
) -> Fold:
    """Return the fold that fills the slots of the dimensions `lead`, from `slot` on."""
    read, start = fold.source
    return replace(
        fold,
        source=(read, start + shift),
        out=(PARTIAL, slot * fold.outputs()),
        kept=(*lead, *_contiguous(fold)),
        folded=folded,
    )


def _contiguous(fold: Fold) -> list[Dimension]:
    """Return the kept dimensions with the strides of contiguous results."""
    kept: list[Dimension] = []
    step = 1
    for d in reversed(fold.kept):
        kept.insert(0, replace(d, out=step))
        step *= d.size
    return kept
