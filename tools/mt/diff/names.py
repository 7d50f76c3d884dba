"""What becomes of public names from one stage to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt.source.parts import CORE, Part, part_of
from mt.source.public import public_names
from mt.source.symbols import Symbol, Symbols


@dataclass(frozen=True)
class NameChange:
    """A public name that two stages have, each with a definition of its own.

    Attributes:
        name: without the package.
        before: what the first stage means by it.
        after: what the second one does.
    """

    name: str
    before: Symbol
    after: Symbol


@dataclass(frozen=True)
class Names:
    """The public names of two stages.

    Attributes:
        added: the second has them, and the first has not; errors are the last of them.
        changed: both have them, defined anew.
        passed_on: the second offers what the first defines.
        left: only the first has them; they stay there, as a stage comes with those below it.
    """

    added: dict[str, Symbol]
    changed: list[NameChange]
    passed_on: dict[str, Symbol]
    left: dict[str, Symbol]


def compared_names(
    symbols: Symbols, before: Sequence[str], after: str, parts: tuple[Part, ...] = CORE
) -> Names:
    """Return what becomes of the public names of some packages in another.

    Args:
        symbols: where they are looked up.
        before: the first stage, and those below it, which come with it.
        after: the second stage.
        parts: where names of both are defined that are compared.
    """
    first, second = (
        {
            name: symbol
            for name, symbol in public_names(symbols, package).items()
            if part_of(symbol.module) in parts
        }
        for package in (before[0], after)
    )
    known = first
    for package in before[1:]:
        known = public_names(symbols, package) | known
    shared = [name for name in second if name in known]
    is_same = {name: known[name].name == second[name].name for name in shared}
    added = [name for name in second if name not in known]
    return Names(
        added={name: second[name] for name in sorted(added, key=lambda name: "Error" in name)},
        changed=[
            NameChange(name, known[name], second[name]) for name in shared if not is_same[name]
        ],
        passed_on={name: second[name] for name in shared if is_same[name]},
        left={name: symbol for name, symbol in first.items() if name not in second},
    )
