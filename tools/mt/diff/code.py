"""What becomes of code from one stage to another.

Every function of the second stage is set against those of the first and of all below it: *same*, if
one computes the same with the same names; *renamed*, if with others; *rewritten*, if one of this
name reads otherwise, but much alike; and a *new idea*, if there is none. A function is rewritten
once: of all that are alike, the likest is its new version, and first come those that stand where it
stood (`mt.diff.kinship`).
"""

from __future__ import annotations

import difflib
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mt.diff.functions import Function, functions
from mt.diff.kinship import VERSIONS, are_kin
from mt.source.modules import Library
from mt.source.parts import FOR_USERS, LESSON, Part

Fate = Literal["same", "renamed", "rewritten", "new idea"]

LEAST = 20
"""How many words a function needs to be called the same as one elsewhere; short ones are alike by
chance."""

LEAST_RENAMED = 30
"""How many it needs if not even the names are the same."""

LEAST_TELLING = 40
"""How many it needs for words alone to tell that it is a version of another, wherever that is."""

ALIKE = 0.3
"""What share of words functions of one name have in common that are versions of each other."""

ALIKE_STRANGE = 0.6
"""The same, if they stand in places of different names."""


@dataclass(frozen=True)
class CodeChange:
    """A function of the second stage beside its counterpart in the first.

    Attributes:
        fate: what became of the counterpart.
        before: the counterpart; None for a new idea.
        after: the function.
    """

    fate: Fate
    before: Function | None
    after: Function

    def lines(self) -> list[str]:
        """Return the differing lines in the form of a unified diff, context included."""
        before = self.before.code.splitlines() if self.before else []
        after = self.after.code.splitlines()
        found = difflib.unified_diff(before, after, n=len(before) + len(after), lineterm="")
        return list(found)[3:] or [f" {line}" for line in after]


def compared_code(
    library: Library, before: Sequence[str], after: str, parts: tuple[Part, ...] = LESSON
) -> list[CodeChange]:
    """Return what became of the code of some packages in another, function by function.

    Args:
        library: where the packages are.
        before: the first stage, and those below it, with all that they have for users.
        after: the second stage.
        parts: which of its parts are compared.
    """
    known = [each for package in before for each in functions(library, package, FOR_USERS)]
    fresh = list(functions(library, after, parts))
    found = _unchanged(known, fresh)
    left = [function for function in fresh if function not in found]
    found |= _rewritten(known, left)
    return [found.get(function) or CodeChange("new idea", None, function) for function in fresh]


def _unchanged(known: Iterable[Function], fresh: Iterable[Function]) -> dict[Function, CodeChange]:
    """Return what is the same, but for names."""
    by_code: dict[str, list[Function]] = defaultdict(list)
    by_signs: dict[str, list[Function]] = defaultdict(list)
    for function in known:
        by_code[function.code].append(function)
        by_signs[function.signs].append(function)
    found = {}
    for function in fresh:
        same = [
            other
            for other in by_code.get(function.code, ())
            if len(function.words) >= LEAST or are_kin(other, function)
        ]
        renamed = [
            other
            for other in by_signs.get(function.signs, ())
            if len(function.words) >= LEAST_RENAMED
            and function.short != "__init__"
            and other.shape == function.shape
        ]
        if same:
            found[function] = CodeChange("same", same[0], function)
        elif renamed:
            found[function] = CodeChange("renamed", renamed[0], function)
    return found


def _rewritten(known: Iterable[Function], left: Iterable[Function]) -> dict[Function, CodeChange]:
    """Return what reads otherwise under its name, each version with one function of its own."""
    pairs = sorted(_alike(known, left), key=lambda pair: pair[:2], reverse=True)
    found: dict[Function, CodeChange] = {}
    taken: set[Function] = set()
    for _, _, before, after in pairs:
        if after not in found and before not in taken:
            found[after] = CodeChange("rewritten", before, after)
            taken.add(before)
    return found


def _alike(
    known: Iterable[Function], left: Iterable[Function]
) -> Iterator[tuple[bool, float, Function, Function]]:
    """Yield pairs that are alike: whether they are kin, how much they are alike, and both."""
    by_name: dict[str, list[Function]] = defaultdict(list)
    for function in known:
        by_name[function.short].append(function)
    for after in left:
        for before in by_name.get(after.short, ()):
            kin = are_kin(before, after)
            likeness = _likeness(before, after, _least(before, after, kin=kin))
            if likeness:
                yield kin, likeness, before, after


def _least(before: Function, after: Function, *, kin: bool) -> float:
    """Return how much functions of one name must have in common to be versions of each other."""
    if (before.name, after.name) in VERSIONS:
        return 0.0
    first, second = len(before.words), len(after.words)
    if not kin and before.short.startswith("__"):
        return math.inf
    if min(first, second) < LEAST_TELLING:
        return ALIKE if kin else math.inf
    if not kin:
        return ALIKE_STRANGE
    third_of_the_shorter = min(first, second) / (first + second) * 2.0 / 3.0
    return min(ALIKE, third_of_the_shorter)  # what was a call may be written out


def _likeness(one: Function, other: Function, least: float) -> float:
    """Return what share of words two functions have in common; 0 if it is less than `least`."""
    matcher = difflib.SequenceMatcher(None, one.words, other.words, autojunk=False)
    if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:  # it is no more
        return 0.0
    found = matcher.ratio()
    return found if found >= least else 0.0
