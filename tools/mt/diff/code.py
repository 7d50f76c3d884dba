"""Match the functions of one stage with those of the stages below it.

Each function of the second stage is compared with those of the first and of all below it. Two
functions match if they have the same name and related owners, and enough words in common: *same* if
the code is equal, else *rewritten*. Each function has at most one counterpart, the most similar.
Functions without one are a *new idea*.

A name alone says little: every layer has a `forward`, and every class an `__init__`. So methods
must belong to classes of the same name, to two backends, whose classes end in `Ops`, or to classes
paired in `KIN`. Module-level functions must be public, such as `tensor_map`.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mt.diff.functions import Function, functions
from mt.source.modules import Library
from mt.source.parts import CORE, Part

Fate = Literal["same", "rewritten", "new idea"]

ALIKE = 0.2
"""The minimum similarity of two versions, by words."""

KIN = {
    ("History", "Node"),
    ("ScalarOperator", "ElementwiseOperation"),
    ("Scalar", "Node"),
    ("Scalar", "Tensor"),
    ("ScalarFunction", "Function"),
    ("Switch", "use_backend"),
}
"""Classes of a stage and of a later one that do the same for different values."""


@dataclass(frozen=True)
class CodeChange:
    """A function of the second stage with its counterpart in the first.

    Attributes:
        fate: how it relates to the counterpart.
        before: the counterpart; None for a new idea.
        after: the function.
    """

    fate: Fate
    before: Function | None
    after: Function

    def lines(self) -> list[str]:
        """Return a unified diff of the code with full context, without headers."""
        before = self.before.code.splitlines() if self.before else []
        after = self.after.code.splitlines()
        found = difflib.unified_diff(before, after, n=len(before) + len(after), lineterm="")
        return list(found)[3:] or [f" {line}" for line in after]


def compared_code(
    library: Library, before: Sequence[str], after: str, parts: tuple[Part, ...] = CORE
) -> list[CodeChange]:
    """Compare the code of a package with that of earlier ones, function by function.

    Args:
        library: the packages.
        before: the first stage, and those below it.
        after: the second stage.
        parts: the parts of the packages to compare.
    """
    known = [each for package in before for each in functions(library, package, parts)]
    fresh = functions(library, after, parts)
    pairs = sorted(_alike(known, fresh), key=lambda pair: pair[0], reverse=True)
    found: dict[Function, Function] = {}
    for _, first, second in pairs:
        if second not in found and first not in found.values():
            found[second] = first
    return [_change(found.get(function), function) for function in fresh]


def _change(before: Function | None, after: Function) -> CodeChange:
    if before is None:
        return CodeChange("new idea", None, after)
    return CodeChange("same" if before.code == after.code else "rewritten", before, after)


def _alike(
    known: Iterable[Function], fresh: Iterable[Function]
) -> Iterator[tuple[float, Function, Function]]:
    """Yield pairs of functions that can be versions of each other, each with its similarity."""
    by_name: dict[str, list[Function]] = defaultdict(list)
    for function in known:
        by_name[function.short].append(function)
    for after in fresh:
        for before in by_name[after.short]:
            if _are_kin(before, after):
                matcher = difflib.SequenceMatcher(None, before.words, after.words, autojunk=False)
                if matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE:  # upper bound first
                    yield matcher.ratio(), before, after


def _are_kin(before: Function, after: Function) -> bool:
    """Return whether two functions of the same name have related owners."""
    owners = before.owner, after.owner
    if not any(owners):
        return not after.short.startswith("_") and after.short != "main"
    first, second = (owner.strip("_") for owner in owners)
    return first == second or owners in KIN or (first.endswith("Ops") and second.endswith("Ops"))
