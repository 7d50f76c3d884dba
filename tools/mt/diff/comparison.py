"""The complete comparison of two stages, as an object for printing and for JSON."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mt.diff.code import CodeChange, Fate, compared_code
from mt.diff.dependencies import Dependency, gained
from mt.diff.experiment import FOLDER, Outcome, run_side
from mt.diff.names import Names, compared_names
from mt.diff.size import Size, size_of
from mt.errors import ToolError
from mt.source.parts import CORE, Part
from mt.source.symbols import Symbols
from mt.workspace import Stage, Workspace


class PairError(ToolError):
    """Two stages that cannot be compared in this order."""


@dataclass(frozen=True)
class Experiment:
    """The outcome of a task without the second stage, and with it.

    Attributes:
        name: the name of its file.
        text: its description.
        program: its source.
        before: the outcome without the stage.
        after: the outcome with it.
    """

    name: str
    text: str
    program: str
    before: Outcome
    after: Outcome


@dataclass(frozen=True)
class Comparison:
    """The comparison of two stages.

    Attributes:
        before: the first stage.
        after: the second.
        parts: the parts of both that are compared.
        text: the docstring of the second package.
        dependencies: the dependencies of the second that the first does not have.
        names: their public names.
        code: the functions of the second, each with its counterpart.
        sizes: the size of each, by name.
        experiments: what fails without the second; empty if they were not run.
    """

    before: Stage
    after: Stage
    parts: tuple[Part, ...]
    text: str
    dependencies: tuple[Dependency, ...]
    names: Names
    code: list[CodeChange]
    sizes: Mapping[str, Size]
    experiments: tuple[Experiment, ...]

    def fates(self) -> dict[Fate, int]:
        """Return the number of functions of the second stage for each fate."""
        return dict(Counter(change.fate for change in self.code))


def compared(
    workspace: Workspace,
    symbols: Symbols,
    before: Stage,
    after: Stage,
    *,
    parts: tuple[Part, ...] = CORE,
    run: bool = True,
) -> Comparison:
    """Compare two stages.

    Args:
        workspace: all stages.
        symbols: their source.
        before: the first stage.
        after: the second.
        parts: the parts of both to compare.
        run: whether to run the experiments, which can take half a minute.
    """
    below = [stage.import_name for stage in reversed(workspace.upstream(before))]
    return Comparison(
        before=before,
        after=after,
        parts=parts,
        text=symbols.find(after.import_name).docstring,
        dependencies=gained(before, after),
        names=compared_names(symbols, below, after.import_name, parts),
        code=compared_code(symbols.library, below, after.import_name, parts),
        sizes={
            stage.name: size_of(symbols.library, stage.import_name, parts)
            for stage in (before, after)
        },
        experiments=tuple(experiments(workspace, before, after)) if run else (),
    )


def experiments(workspace: Workspace, before: Stage, after: Stage) -> Iterator[Experiment]:
    """Yield the outcomes of tasks without a stage, and with it, from the files named after it."""
    there = workspace.upstream(before)
    absent = [stage.import_name for stage in workspace.stages.values() if stage not in there]
    beyond = [stage.import_name for stage in workspace.downstream(after) if stage is not after]
    for file in sorted([*FOLDER.glob(f"{after.short}.py"), *FOLDER.glob(f"{after.short}_*.py")]):
        program = file.read_text(encoding="utf-8")
        text = ast.get_docstring(ast.parse(program)) or ""
        outcomes = run_side(file, "before", absent), run_side(file, "after", beyond)
        yield Experiment(file.stem, text, program, *outcomes)


def pair(workspace: Workspace, before: str, after: str) -> tuple[Stage, Stage]:
    """Return two stages, if the second can add something to the first.

    Raises:
        UnknownStageError: there is no such stage.
        PairError: they are the same, or the first builds on the second.
    """
    first, second = workspace[before], workspace[after]
    if first is second:
        raise PairError(f"{first.name} adds nothing to itself: name two stages.")
    if second in workspace.upstream(first):
        raise PairError(
            f"{first.name} builds on {second.name}, not the other way round: "
            f"`mt diff {second.short} {first.short}`."
        )
    return first, second
