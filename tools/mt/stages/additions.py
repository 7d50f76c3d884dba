"""What a stage adds: dependencies, public names of its core, and files to read."""

from __future__ import annotations

from dataclasses import dataclass

from mt.source.parts import CORE, part_of
from mt.source.public import public_names
from mt.source.reading import reading_order
from mt.source.symbols import Symbol, Symbols
from mt.workspace import Stage, Workspace


@dataclass(frozen=True)
class Addition:
    """What a stage adds to those that it builds on.

    Attributes:
        stage: the stage.
        below: the stages that it builds on, in order.
        text: the docstring of its package.
        dependencies: its requirements that none of the stages below has.
        new: the public names that its core defines and no stage below has; errors come last.
        redefined: for each name that a stage below has, too, its definition there and here.
        files: the files of its core, in reading order.
    """

    stage: Stage
    below: tuple[Stage, ...]
    text: str
    dependencies: tuple[str, ...]
    new: dict[str, Symbol]
    redefined: dict[str, tuple[Symbol, Symbol]]
    files: tuple[str, ...]


def addition(workspace: Workspace, symbols: Symbols, name: str) -> Addition:
    """Return what a stage adds.

    Args:
        workspace: all stages.
        symbols: their source.
        name: the stage.

    Raises:
        UnknownStageError: there is no such stage.
    """
    stage = workspace[name]
    below = tuple(workspace.upstream(stage)[:-1])
    known: dict[str, Symbol] = {}
    for each in below:
        known |= public_names(symbols, each.import_name)
    own = {
        name: symbol
        for name, symbol in public_names(symbols, stage.import_name).items()
        if part_of(symbol.module) in CORE and symbol.module.name.startswith(stage.import_name)
    }
    new = [name for name in own if name not in known]
    required = {requirement.name for each in below for requirement in each.dependencies}
    return Addition(
        stage,
        below,
        symbols.find(stage.import_name).docstring,
        tuple(str(each) for each in stage.dependencies if each.name not in required),
        {name: own[name] for name in sorted(new, key=lambda name: name.endswith("Error"))},
        {name: (known[name], own[name]) for name in own if name in known},
        tuple(reading_order(stage.folder / "README.md")),
    )
