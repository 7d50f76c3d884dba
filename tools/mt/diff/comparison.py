"""All that is said of two stages, in one object that can be printed, and written as JSON."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mt.diff.code import CodeChange, Fate, compared_code
from mt.diff.dependencies import Dependency, gained
from mt.diff.experiment import FOLDER, Outcome, run_side
from mt.diff.functions import Function
from mt.diff.names import Names, compared_names
from mt.diff.size import Size, size_of
from mt.errors import ToolError
from mt.source.modules import lines_of
from mt.source.parts import CORE, Part
from mt.source.symbols import Symbol, Symbols
from mt.workspace import Stage, Workspace


class PairError(ToolError):
    """Two stages cannot be compared in this order."""


@dataclass(frozen=True)
class Experiment:
    """What a task came to without the second stage, and with it.

    Attributes:
        name: that of its file.
        text: what it is about.
        program: the file that was run.
        before: what came of it without.
        after: what came of it with the stage.
    """

    name: str
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
        parts: the parts of both that are compared.
        text: what the second is, in words of its own.
        dependencies: what the second needs and the first does not.
        names: their public names.
        code: the functions of the second, each with its counterpart.
        sizes: how much each is, by its name.
        experiments: what breaks without the second; none if that was not asked for.
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
        """Return how many functions of the second stage have met each fate."""
        return dict(Counter(change.fate for change in self.code))

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON knows.

        - `before`, `after`: the names of both stages; `parts`: which of theirs are compared.
        - `text`: what the second is, the docstring of its package.
        - `dependencies`: a list of `requirement` and `brings`, a list of names; null if the package
          is not installed.
        - `names`: `added`, by name, and `changed`, by name `before` and `after`, each a symbol with
          `symbol` (its qualified name), `kind`, `signature`, `summary`, `file` and `line`; and the
          names that are `passed_on` and `left`.
        - `code`: for each function of the second stage its `fate`, `before` (null for a new idea)
          and `after`, each with `name` and `line`, and the `lines` of a unified diff.
        - `sizes`: by stage `modules`, `lines` and `import_seconds` (null if it cannot be imported).
        - `experiments`: a list of `name`, `text`, `program`, `before` and `after`, each with
          `worked`, `seconds` and `output`.
        """
        return {
            "before": self.before.name,
            "after": self.after.name,
            "parts": list(self.parts),
            "text": self.text,
            "dependencies": [asdict(each) for each in self.dependencies],
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
            "experiments": [asdict(each) for each in self.experiments],
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
    workspace: Workspace,
    symbols: Symbols,
    before: Stage,
    after: Stage,
    *,
    parts: tuple[Part, ...] = CORE,
    run: bool = True,
) -> Comparison:
    """Return what a stage adds to another one.

    Args:
        workspace: all stages.
        symbols: their source.
        before: the first stage.
        after: the second.
        parts: the parts of both that are compared.
        run: whether experiments are run, which can take half a minute.
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
    """Yield what tasks come to without a stage, and with it: those in files of its name."""
    there = workspace.upstream(before)
    absent = [stage.import_name for stage in workspace.stages.values() if stage not in there]
    beyond = [stage.import_name for stage in workspace.downstream(after) if stage is not after]
    for file in sorted([*FOLDER.glob(f"{after.short}.py"), *FOLDER.glob(f"{after.short}_*.py")]):
        program = file.read_text(encoding="utf-8")
        text = ast.get_docstring(ast.parse(program)) or ""
        outcomes = run_side(file, "before", absent), run_side(file, "after", beyond)
        yield Experiment(file.stem, text, program, *outcomes)


def pair(workspace: Workspace, before: str, after: str) -> tuple[Stage, Stage]:
    """Return two stages of which the second can add something to the first.

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
