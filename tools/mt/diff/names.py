"""What becomes of public names from one stage to another."""

from __future__ import annotations

from dataclasses import dataclass

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
        added: the second has them, and the first has not.
        changed: both have them, defined anew.
        passed_on: the second offers what the first defines.
        left: only the first has them; they stay there, as a stage comes with those below it.
    """

    added: dict[str, Symbol]
    changed: list[NameChange]
    passed_on: dict[str, Symbol]
    left: dict[str, Symbol]


def compared_names(symbols: Symbols, before: str, after: str) -> Names:
    """Return what becomes of the public names of one package in another."""
    first, second = public_names(symbols, before), public_names(symbols, after)
    shared = [name for name in second if name in first]
    is_same = {name: first[name].name == second[name].name for name in shared}
    return Names(
        added={name: symbol for name, symbol in second.items() if name not in first},
        changed=[
            NameChange(name, first[name], second[name]) for name in shared if not is_same[name]
        ],
        passed_on={name: second[name] for name in shared if is_same[name]},
        left={name: symbol for name, symbol in first.items() if name not in second},
    )
