"""Compare the public names of two stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt.source.parts import CORE, Part, part_of
from mt.source.public import public_names
from mt.source.symbols import Symbol, Symbols


@dataclass(frozen=True)
class NameChange:
    """A public name that two stages define differently.

    Attributes:
        name: the name without the package.
        before: the definition in the first stage.
        after: the definition in the second.
    """

    name: str
    before: Symbol
    after: Symbol


@dataclass(frozen=True)
class Names:
    """The public names of two stages.

    Attributes:
        added: names that only the second has; errors come last.
        changed: names that both define.
        passed_on: names of the first that the second re-exports.
        left: names that only the first has.
    """

    added: dict[str, Symbol]
    changed: list[NameChange]
    passed_on: dict[str, Symbol]
    left: dict[str, Symbol]


def compared_names(
    symbols: Symbols, before: Sequence[str], after: str, parts: tuple[Part, ...] = CORE
) -> Names:
    """Compare the public names of a package with those of earlier ones.

    Args:
        symbols: the lookup of names.
        before: the first stage, and those below it.
        after: the second stage.
        parts: the parts in which names must be defined to be compared.
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
