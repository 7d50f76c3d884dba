"""All that is said of two stages, in one object that can be printed, and written as JSON."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mt.diff.code import CodeChange, Fate, Function, compared_code
from mt.diff.experiment import FOLDER, Outcome, run_side
from mt.diff.names import Names, compared_names
from mt.diff.size import Size, size_of
from mt.source.modules import lines_of
from mt.source.symbols import Symbol, Symbols
from mt.workspace import Stage, Workspace


@dataclass(frozen=True)
class Experiment:
    """What a task came to without the second stage, and with it.

    Attributes:
        text: what it is about.
        program: the file that was run.
        before: what came of it without.
        after: what came of it with the stage.
    """

    text: str
    program: str
    before: Outcome
    after: Outcome


@dataclass(frozen=True)
class Comparison:
    """What a stage adds to another one.

    Attributes:
        before: the first stage.
        after: the second.
        dependencies: what the second needs and the first does not, as written in its package.
        names: their public names.
        code: the functions of the second, each with its counterpart.
        sizes: how much each is, by its name.
        experiment: what breaks without the second; None if there is none for it, or it was not
            asked for.
    """

    before: Stage
    after: Stage
    dependencies: tuple[str, ...]
    names: Names
    code: list[CodeChange]
    sizes: Mapping[str, Size]
    experiment: Experiment | None

    def fates(self) -> dict[Fate, int]:
        """Return how many functions of the second stage have met each fate."""
        return dict(Counter(change.fate for change in self.code))

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON knows."""
        return {
            "before": self.before.name,
            "after": self.after.name,
            "dependencies": list(self.dependencies),
            "names": {
                "added": {name: _shown(symbol) for name, symbol in self.names.added.items()},
                "changed": {
                    change.name: {"before": _shown(change.before), "after": _shown(change.after)}
                    for change in self.names.changed
                },
                "passed_on": list(self.names.passed_on),
                "left": list(self.names.left),
            },
            "code": [_code(change) for change in self.code],
            "sizes": {name: asdict(size) for name, size in self.sizes.items()},
            "experiment": asdict(self.experiment) if self.experiment else None,
        }


def _shown(symbol: Symbol) -> dict[str, Any]:
    return {
        "symbol": symbol.name,
        "kind": symbol.kind,
        "signature": symbol.signature,
        "summary": symbol.summary,
        "file": symbol.module.file.name,
        "line": symbol.lines[0],
    }


def _code(change: CodeChange) -> dict[str, Any]:
    def place(function: Function) -> dict[str, Any]:
        return {"name": function.name, "line": lines_of(function.node)[0]}

    return {
        "fate": change.fate,
        "before": place(change.before) if change.before else None,
        "after": place(change.after),
        "lines": change.lines(),
    }


def compared(
    workspace: Workspace, symbols: Symbols, before: Stage, after: Stage, *, run: bool = True
) -> Comparison:
    """Return what a stage adds to another one.

    Args:
        workspace: all stages.
        symbols: their source.
        before: the first stage.
        after: the second.
        run: whether the experiment is run, which can take half a minute.
    """
    return Comparison(
        before=before,
        after=after,
        dependencies=_gained(before, after),
        names=compared_names(symbols, before.import_name, after.import_name),
        code=compared_code(symbols.library, before.import_name, after.import_name),
        sizes={
            stage.name: size_of(symbols.library, stage.import_name) for stage in (before, after)
        },
        experiment=experiment(workspace, before, after) if run else None,
    )


def _gained(before: Stage, after: Stage) -> tuple[str, ...]:
    known = {requirement.name for requirement in before.dependencies}
    return tuple(str(each) for each in after.dependencies if each.name not in known)


def experiment(workspace: Workspace, before: Stage, after: Stage) -> Experiment | None:
    """Return what a task comes to without a stage, and with it; None if nobody wrote one."""
    file = FOLDER / f"{after.short}.py"
    if not file.is_file():
        return None
    program = file.read_text(encoding="utf-8")
    text = ast.get_docstring(ast.parse(program)) or ""
    there = workspace.upstream(before)
    absent = [stage.import_name for stage in workspace.stages.values() if stage not in there]
    later = workspace.downstream(after)
    beyond = [stage.import_name for stage in later if stage is not after]
    outcomes = run_side(file, "before", absent), run_side(file, "after", beyond)
    return Experiment(text, program, *outcomes)
