"""What a stage adds: dependencies, public names of its core, and files to read."""

from __future__ import annotations

from dataclasses import dataclass

from griffe import ModulesCollection, Object

from mt.source.parts import part_of
from mt.source.public import public_names
from mt.source.reading import reading_order
from mt.source.symbols import docstring_of
from mt.workspace import Stage, Workspace


@dataclass(frozen=True)
class Addition:
    """What a stage adds to those that it builds on.

    Attributes:
        stage: the stage.
        upstream: the stages that it builds on, in order.
        text: the docstring of its package.
        dependencies: its requirements that none of the stages below has.
        new: the public names that its core defines and no stage below has; errors come last.
        redefined: for each name that a stage below has, too, its definition there and here.
        files: the files of its core, in reading order.
    """

    stage: Stage
    upstream: tuple[Stage, ...]
    text: str
    dependencies: tuple[str, ...]
    new: dict[str, Object]
    redefined: dict[str, tuple[Object, Object]]
    files: tuple[str, ...]


def addition(workspace: Workspace, modules: ModulesCollection, name: str) -> Addition:
    """Return what a stage adds.

    Args:
        workspace: all stages.
        modules: their source.
        name: the stage.

    Raises:
        UnknownStageError: the stage is unknown.
    """
    stage = workspace[name]
    upstream = tuple(workspace.upstream(stage)[:-1])
    known: dict[str, Object] = {}
    for each in upstream:
        known |= public_names(modules, each.import_name)
    symbols = {
        name: symbol
        for name, symbol in public_names(modules, stage.import_name).items()
        if part_of(symbol.path) == "core" and symbol.package.name == stage.import_name
    }
    new = [name for name in symbols if name not in known]
    required = {requirement.name for each in upstream for requirement in each.dependencies}
    return Addition(
        stage,
        upstream,
        docstring_of(modules[stage.import_name]),
        tuple(str(each) for each in stage.dependencies if each.name not in required),
        {name: symbols[name] for name in sorted(new, key=lambda name: name.endswith("Error"))},
        {name: (known[name], symbols[name]) for name in symbols if name in known},
        tuple(reading_order(stage.folder / "README.md")),
    )
