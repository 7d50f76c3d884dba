"""Known differences from torch that are intended, with the reasons.

They are listed in `known_differences.toml`, each with a precise description. The list can only
shrink: a test limits its length, and a campaign counts the occurrences of each.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from pathlib import Path

from differential.conditions import CONDITIONS, Context
from differential.differences import KINDS, Difference
from mt.tables import TableError, check_table, read_table

FILE = Path(__file__).with_name("known_differences.toml")


@dataclass(frozen=True)
class KnownDifference:
    """A known, intended difference.

    Attributes:
        name: its name.
        differences: the kinds of difference, keys of `KINDS`.
        operations: a regular expression for the names of operations.
        reason: why it is intended.
        ours: a regular expression for the start of our result.
        theirs: the same for torch's.
        after: a regular expression for the name of an earlier operation of the program.
        there: the names of `CONDITIONS` that hold at that operation.
        when: the names of `CONDITIONS` that hold at the difference.
        within: the maximum difference of elements.
    """

    name: str
    differences: tuple[str, ...]
    operations: str
    reason: str
    ours: str = ""
    theirs: str = ""
    after: str = ""
    there: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    within: float = math.inf

    def matches(self, context: Context, difference: Difference) -> bool:
        """Return whether this entry covers a difference."""
        earlier = [step.operation for step in context.steps]
        return (
            difference.kind in self.differences
            and re.fullmatch(self.operations, earlier[-1]) is not None
            and re.match(self.ours, difference.ours, re.DOTALL) is not None
            and re.match(self.theirs, difference.theirs, re.DOTALL) is not None
            and difference.off <= self.within
            and all(CONDITIONS[name](context) for name in self.when)
            and (not self.after or any(self._is_after(context, i) for i in range(len(earlier))))
        )

    def _is_after(self, context: Context, number: int) -> bool:
        """Return whether a step matches the earlier operation."""
        if re.fullmatch(self.after, context.steps[number].operation) is None:
            return False
        return not self.there or all(CONDITIONS[name](context.at(number)) for name in self.there)


def known_difference(context: Context, difference: Difference) -> KnownDifference | None:
    """Return the first entry of the list that matches a difference; None if there is none."""
    return next((each for each in known_differences() if each.matches(context, difference)), None)


@functools.cache
def known_differences(file: Path = FILE) -> tuple[KnownDifference, ...]:
    """Return the list of known differences.

    Raises:
        TableError: an entry is invalid.
    """
    needed = {"name": str, "differences": list, "operations": str, "reason": str}
    optional = {"ours": str, "theirs": str, "after": str, "there": list, "when": list}
    found = []
    for entry in read_table(file).get("known", []):
        name = entry.get("name", "?")
        check_table(name, entry, needed, {**optional, "within": float})
        lists = {key: tuple(entry.get(key, [])) for key in ("differences", "there", "when")}
        for key, values in lists.items():
            known = KINDS if key == "differences" else CONDITIONS
            for value in values:
                if value not in known:
                    raise TableError(f"{name}: {key}: {value!r} is not one of {', '.join(known)}.")
        found.append(KnownDifference(**{**entry, **lists}))
    return tuple(found)
