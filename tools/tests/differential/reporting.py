"""Describe programs with differences, and count the outcomes of a campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from differential import compiled, running
from differential.differences import KINDS
from differential.known import known_differences
from differential.operations import catalogue
from differential.programs import listing
from differential.running import Run

ORACLES = {"torch": running, "eager": compiled}
"""The modules that run and compare programs, by what they compare them with."""


def described(program: Run, oracle: str) -> str:
    """Return the difference that a program shows, the program, and both results."""
    difference = program.difference
    if difference is None:
        return listing(program.steps) + "".join(f"# {name}\n" for name in program.known)
    where = f" of {difference.value}" if difference.value else ""
    lines = [f"{program.steps[-1].operation}: {KINDS[difference.kind]}{where}"]
    lines += [listing(program.steps).rstrip()]
    sides = ("here", "torch") if oracle == "torch" else ("compiled", "eager")
    for side, text in zip(sides, (difference.ours, difference.theirs), strict=True):
        lines += [f"# {side}:", *(f"#   {line}" for line in text.splitlines())]
    return "\n".join(lines)


def counted(program: Run, oracle: str) -> dict[str, Any]:
    """Return the outcome of a program, as data for the report of its test."""
    operations = [step.operation for step in program.steps]
    return {
        "oracle": oracle,
        "run": [name for i, name in enumerate(operations) if i not in program.raised],
        "raised": [name for i, name in enumerate(operations) if i in program.raised],
        "known": program.known,
        "differs": program.difference is not None,
    }


def summary(programs: Sequence[dict[str, Any]], details: bool) -> Iterator[str]:
    """Yield lines about the outcomes of programs.

    Args:
        programs: their outcomes, as `counted` returns them.
        details: whether to list all known differences, and the operations that never ran.
    """
    run, raised, known = (
        Counter(name for each in programs for name in each[key])
        for key in ("run", "raised", "known")
    )
    differs = sum(each["differs"] for each in programs)
    if programs[0]["oracle"] == "torch":
        outcome = f"{known.total()} known differences, {differs} others"
    else:
        outcome = ", ".join(f"{known[name]} {name}" for name in compiled.OUTCOMES)
        outcome += f", {differs} differ"
    if details and programs[0]["oracle"] == "torch":
        yield from (f"{known[each.name]:6} {each.name}" for each in known_differences())
        yield f"never run: {', '.join(name for name in catalogue() if not run[name])}"
    count = f"{len(programs)} program{'s' * (len(programs) != 1)}"
    yield (
        f"{count}: {run.total()} steps run and {raised.total()} errors, "
        f"of {len(run.keys() | raised.keys())} operations; {outcome}"
    )
