"""What a judgement is: a kind of difference that is meant, and the reason.

They are entries of `judged.toml`. Each says precisely which differences it is about; a campaign of
`FULL` programs fails when it never meets one of them, so that the list can only shrink.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mt.fuzz.differences import KINDS, Difference
from mt.fuzz.programs import Ref, Step, parts_of
from mt.tables import TableError, check_table, read_table
from mt_tensor.dtypes import Array

FILE = Path(__file__).with_name("judged.toml")
FULL = 100_000
"""So many programs meet every kind."""

Operands = Sequence[Array]
Condition = Callable[[Step, Operands], bool]


@dataclass(frozen=True)
class Judgement:
    """A kind of difference that is meant.

    Attributes:
        name: what it is called.
        differences: the kinds of difference, keys of `KINDS`.
        operations: an expression for the names of operations.
        reason: why it is meant.
        ours: an expression for our answer, which it begins with.
        theirs: an expression for torch's.
        when: the names of `CONDITIONS` that hold.
    """

    name: str
    differences: tuple[str, ...]
    operations: str
    reason: str
    ours: str = ""
    theirs: str = ""
    when: tuple[str, ...] = ()

    def matches(self, step: Step, operands: Operands, difference: Difference) -> bool:
        """Return whether a difference is of this kind."""
        return (
            difference.kind in self.differences
            and re.fullmatch(self.operations, step.operation) is not None
            and re.match(self.ours, difference.ours, re.DOTALL) is not None
            and re.match(self.theirs, difference.theirs, re.DOTALL) is not None
            and all(CONDITIONS[name](step, operands) for name in self.when)
        )


def judgement_of(step: Step, operands: Operands, difference: Difference) -> Judgement | None:
    """Return the first entry of the list that a difference is of; None if it is of none."""
    return next((j for j in judgements() if j.matches(step, operands, difference)), None)


@functools.cache
def judgements(file: Path = FILE) -> tuple[Judgement, ...]:
    """Return the list.

    Raises:
        TableError: an entry is not what it should be.
    """
    found = []
    for entry in read_table(file).get("judged", []):
        name = entry.get("name", "?")
        check_table(
            name,
            entry,
            {"name": str, "differences": list, "operations": str, "reason": str},
            {"ours": str, "theirs": str, "when": list},
        )
        for key, known in (("differences", KINDS), ("when", CONDITIONS)):
            for value in entry.get(key, []):
                if value not in known:
                    raise TableError(f"{name}: {key}: {value!r} is none of {', '.join(known)}.")
        lists = {key: tuple(entry.get(key, [])) for key in ("differences", "when")}
        found.append(Judgement(**{**entry, **lists}))
    return tuple(found)


# --- Conditions -----------------------------------------------------------------------------------


def operands_of(step: Step, elements: dict[str, Array]) -> list[Array]:
    """Return the elements that the operands of a step had before it."""
    refs = parts_of((step.args, step.settings), Ref)
    return [elements[str(ref)] for ref in refs if str(ref) in elements]


def _not_finite(_: Step, operands: Operands) -> bool:
    return any(x.dtype.kind == "f" and not np.isfinite(x).all() for x in operands)


def _extreme(_: Step, operands: Operands) -> bool:
    floats = [x for x in operands if x.dtype.kind == "f"]
    return any((abs(x) > np.finfo(x.dtype).max / 8).any() for x in floats)


def _of_kinds(*kinds: str) -> Condition:
    return lambda _, operands: any(x.dtype.kind in kinds for x in operands)


CONDITIONS: dict[str, Condition] = {
    "not finite": _not_finite,
    "extreme": lambda step, operands: _not_finite(step, operands) or _extreme(step, operands),
    "settings not finite": lambda step, _: not np.isfinite(list(parts_of(step.args, float))).all(),
    "mixed": lambda _, operands: len({x.dtype for x in operands}) > 1,
    "empty": lambda _, operands: any(x.size == 0 for x in operands),
    "float16": lambda _, operands: any(x.dtype == np.float16 for x in operands),
    "integers": _of_kinds("i", "u"),
    "not recorded": lambda step, _: step.unrecorded,
}
"""What an entry may ask for of a step and of its operands before it."""
