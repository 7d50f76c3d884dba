"""What a judgement is: a kind of difference that is meant, and the reason.

They are entries of `judged.toml`. Each says precisely which differences it is about; a campaign of
`FULL` programs fails when it never meets one of them, so that the list can only shrink.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mt.fuzz.differences import KINDS, Difference
from mt.fuzz.programs import Step, parts_of
from mt.tables import TableError, check_table, read_table
from mt_tensor.dtypes import Array

FILE = Path(__file__).with_name("judged.toml")
FULL = 100_000
"""So many programs meet every kind."""


class Operand(NamedTuple):
    """What an operand of a step was before it.

    Attributes:
        array: its elements.
        memory: the first value that lies in the same memory; None if it has no elements.
    """

    array: Array
    memory: str | None


Operands = Sequence[Operand]
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
        after: an expression for the name of an earlier operation of the program.
        when: the names of `CONDITIONS` that hold.
        within: by how much elements may differ.
    """

    name: str
    differences: tuple[str, ...]
    operations: str
    reason: str
    ours: str = ""
    theirs: str = ""
    after: str = ""
    when: tuple[str, ...] = ()
    within: float = math.inf

    def matches(self, steps: Sequence[Step], operands: Operands, difference: Difference) -> bool:
        """Return whether a difference that the last step shows is of this kind."""
        step = steps[-1]
        return (
            difference.kind in self.differences
            and re.fullmatch(self.operations, step.operation) is not None
            and re.match(self.ours, difference.ours, re.DOTALL) is not None
            and re.match(self.theirs, difference.theirs, re.DOTALL) is not None
            and difference.off <= self.within
            and all(CONDITIONS[name](step, operands) for name in self.when)
            and (not self.after or any(re.fullmatch(self.after, x.operation) for x in steps))
        )


def judgement_of(
    steps: Sequence[Step], operands: Operands, difference: Difference
) -> Judgement | None:
    """Return the first entry of the list that a difference is of; None if it is of none."""
    return next((j for j in judgements() if j.matches(steps, operands, difference)), None)


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
            {"ours": str, "theirs": str, "after": str, "when": list, "within": float},
        )
        for key, known in (("differences", KINDS), ("when", CONDITIONS)):
            for value in entry.get(key, []):
                if value not in known:
                    raise TableError(f"{name}: {key}: {value!r} is none of {', '.join(known)}.")
        lists = {key: tuple(entry.get(key, [])) for key in ("differences", "when")}
        found.append(Judgement(**{**entry, **lists}))
    return tuple(found)


# --- Conditions -----------------------------------------------------------------------------------


def operands_of(
    step: Step, elements: Mapping[str, Array], memory: Mapping[str, str]
) -> list[Operand]:
    """Return what the operands of a step were before it, by the elements and memory of values."""
    names = map(str, step.refs)
    return [Operand(elements[name], memory.get(name)) for name in names if name in elements]


def _not_finite(_: Step, operands: Operands) -> bool:
    return any(x.array.dtype.kind == "f" and not np.isfinite(x.array).all() for x in operands)


def _beyond(limit: Callable[[float], float]) -> Condition:
    """Return whether an element is not finite, or beyond a limit, which its type's largest sets."""

    def holds(_: Step, operands: Operands) -> bool:
        floats = [x.array for x in operands if x.array.dtype.kind == "f"]
        return any(not (abs(x) <= limit(float(np.finfo(x.dtype).max))).all() for x in floats)

    return holds


def _of_kinds(*kinds: str) -> Condition:
    return lambda _, operands: any(x.array.dtype.kind in kinds for x in operands)


def _not_sorted(step: Step, operands: Operands) -> bool:
    """Return whether the numbers that are searched are not in order."""
    row = operands[1 if step.operation == "bucketize" else 0].array
    return "sorter" in step.settings or not (row == np.sort(row)).all()


def _overlapping(_: Step, operands: Operands) -> bool:
    places = [x.memory for x in operands if x.memory is not None]
    return len(set(places)) < len(places)


CONDITIONS: dict[str, Condition] = {
    "not finite": _not_finite,
    "extreme": _beyond(lambda largest: largest / 8),
    "squares overflow": _beyond(math.sqrt),
    "settings not finite": lambda step, _: not np.isfinite(list(parts_of(step.args, float))).all(),
    "mixed": lambda _, operands: len({x.array.dtype for x in operands}) > 1,
    "empty": lambda _, operands: any(x.array.size == 0 for x in operands),
    "float16": lambda _, operands: any(x.array.dtype == np.float16 for x in operands),
    "integers": _of_kinds("i", "u", "b"),
    "not recorded": lambda step, _: step.unrecorded,
    "not sorted": _not_sorted,
    "overlapping": _overlapping,
}
"""What an entry may ask for of a step and of its operands before it."""
