"""What one stage adds to another: the fates of functions, the experiments, and the command."""

import json
import textwrap
from pathlib import Path

import pytest

from mt.__main__ import main
from mt.diff.code import compared_code
from mt.diff.comparison import experiment
from mt.diff.experiment import FOLDER
from mt.diff.names import compared_names
from mt.diff.size import lines_of_code
from mt.source.modules import Library
from mt.source.symbols import Symbols
from mt.workspace import Workspace

FIRST = '''
    """The first stage."""
    from math import tau

    __all__ = ["Shared", "area", "kept", "only"]


    def kept(x: float) -> float:
        """Return it twice."""
        return x + x


    def area(width: float, height: float) -> float:
        """Return an area."""
        result = width * height
        if result < 0.0:
            raise ValueError(f"{width} times {height} is no area")
        return result * 1.0


    def only(x):
        return tau


    class Shared:
        def __init__(self):
            self.first = 1

        def step(self, x):
            for _ in range(3):
                x = x + self.first
            return x
'''
SECOND = '''
    """The second stage."""
    __all__ = ["Shared", "fresh", "kept", "volume"]


    def kept(x):
        # another comment
        return x + x


    def volume(ground, level):
        product = ground * level
        if product < 0.0:
            raise ValueError(f"{ground} times {level} is no area")
        return product * 1.0


    def fresh(x):
        return [x]


    class Shared:
        def step(self, x):
            for _ in range(4):
                x = x + self.first
            return x
'''


@pytest.fixture
def symbols(tmp_path: Path) -> Symbols:
    for name, text in (("first", FIRST), ("second", SECOND)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(textwrap.dedent(text))
    return Symbols(Library({name: tmp_path / name for name in ("first", "second")}))


def test_each_function_meets_its_fate(symbols: Symbols) -> None:
    changes = compared_code(symbols.library, "first", "second")
    found = {
        change.after.name: (change.fate, change.before.name if change.before else None)
        for change in changes
    }
    assert found == {
        "second.kept": ("same", "first.kept"),
        "second.volume": ("renamed", "first.area"),
        "second.fresh": ("new idea", None),
        "second.Shared.step": ("rewritten", "first.Shared.step"),
    }
    assert "-    for _ in range(3):" in changes[-1].lines()
    assert "+    for _ in range(4):" in changes[-1].lines()


def test_names_are_added_defined_anew_or_left(symbols: Symbols) -> None:
    names = compared_names(symbols, "first", "second")
    assert list(names.added) == ["fresh", "volume"]
    assert [change.name for change in names.changed] == ["Shared", "kept"]
    assert list(names.left) == ["area", "only"]
    assert not names.passed_on


def test_lines_of_code_are_those_that_compute(symbols: Symbols) -> None:
    module = symbols.library.module("second")
    assert module is not None
    assert lines_of_code(module) == 15


STEPS = [("operators", "autodiff"), ("autodiff", "tensor"), ("tensor", "fast")]
STEPS += [("fast", "cuda"), ("tensor", "nn")]


@pytest.mark.parametrize(("before", "after"), STEPS)
def test_an_experiment_works_with_the_stage_and_cannot_use_it_without(
    before: str, after: str
) -> None:
    workspace = Workspace.read()
    found = experiment(workspace, workspace[before], workspace[after])
    assert found is not None
    assert found.text
    assert found.after.worked, found.after.output
    assert found.before.worked is (after != "cuda"), found.before.output
    assert found.before.output


def test_every_stage_but_the_first_has_an_experiment() -> None:
    later = list(Workspace.read().stages.values())[1:]
    assert {file.stem for file in FOLDER.glob("*.py")} == {stage.short for stage in later}


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "operators", "autodiff", "--json", "--no-run"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["names"]["added"]["Scalar"]["symbol"] == "mt_autodiff.scalar.Scalar"
    assert found["dependencies"][0].startswith("mt-operators")
    assert found["sizes"]["mt-autodiff"]["lines"] > 500
    assert {code["fate"] for code in found["code"]} >= {"new idea", "rewritten"}


def test_the_command_shows_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "mt-operators", "mt-autodiff", "--code", "--no-run"]) == 0
    shown = capsys.readouterr().out
    assert "What mt-autodiff adds to mt-operators" in shown
    assert "topological_sort" in shown


def test_an_unknown_stage_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["diff", "operators", "autodif"])
    assert "the stages are mt-operators" in capsys.readouterr().err
