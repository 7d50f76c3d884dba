"""`mt diff`: matching functions of two stages, the experiments, and the command."""

import functools
import re
import textwrap
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from rich.console import Console

from mt.__main__ import main
from mt.diff.code import KIN, compared_code
from mt.diff.comparison import Comparison, Experiment, compared, experiments
from mt.diff.dependencies import Dependency, gained
from mt.diff.experiment import FOLDER
from mt.diff.functions import functions
from mt.diff.names import compared_names
from mt.diff.printing import show
from mt.source.modules import Library
from mt.source.parts import CORE, FOR_USERS, Part, lines_of_code
from mt.source.symbols import Symbols
from mt.workspace import Workspace

FIRST = '''
    """The first stage."""
    from math import tau


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
REST_OF_SECOND = '''
    """What the second stage has besides."""


    def only(x):
        return tau
'''
SECOND = '''
    """The second stage."""


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


def public(package: str, *names: str) -> str:
    """Return an `__init__` with names of the core."""
    return f"from {package}.core.code import {', '.join(names)}\n__all__ = {[*names]}\n"


@pytest.fixture
def symbols(tmp_path: Path) -> Symbols:
    for path, text in (
        ("first/core/code.py", FIRST),
        ("first/__init__.py", public("first", "Shared", "area", "kept", "only")),
        ("second/core/code.py", SECOND),
        ("second/__init__.py", public("second", "Shared", "fresh", "kept", "volume")),
        ("second/more.py", REST_OF_SECOND),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(textwrap.dedent(text))
    return Symbols(Library({name: tmp_path / name for name in ("first", "second")}))


@pytest.mark.parametrize(
    ("parts", "beyond"),
    [(CORE, {}), (FOR_USERS, {"second.more.only": ("same", "first.core.code.only")})],
)
def test_each_function_meets_its_fate(
    symbols: Symbols, parts: tuple[Part, ...], beyond: dict[str, tuple[str, str]]
) -> None:
    changes = compared_code(symbols.library, ["first"], "second", parts)
    found = {
        change.after.name: (change.fate, change.before.name if change.before else None)
        for change in changes
    }
    assert found == {
        "second.core.code.kept": ("same", "first.core.code.kept"),
        "second.core.code.volume": ("new idea", None),
        "second.core.code.fresh": ("new idea", None),
        "second.core.code.Shared.step": ("rewritten", "first.core.code.Shared.step"),
        **beyond,
    }
    (step,) = (change for change in changes if change.after.name == "second.core.code.Shared.step")
    assert "-    for _ in range(3):" in step.lines()
    assert "+    for _ in range(4):" in step.lines()


def test_names_are_added_defined_anew_or_left(symbols: Symbols) -> None:
    everything = compared_names(symbols, ["first"], "second", FOR_USERS)
    assert list(everything.added) == ["fresh", "volume"]
    assert [change.name for change in everything.changed] == ["Shared", "kept"]
    names = compared_names(symbols, ["first"], "second")
    assert list(names.added) == ["fresh", "volume"]
    assert [change.name for change in names.changed] == ["Shared", "kept"]
    assert list(names.left) == ["area", "only"]
    assert not names.passed_on


def test_lines_of_code_exclude_comments_and_documentation(symbols: Symbols) -> None:
    module = symbols.library.module("second.core.code")
    assert module is not None
    assert lines_of_code(module) == 14


# --- Judgements on real pairs -------------------------------------------------------------------

PAIRS = [
    ("operators", "autodiff"),
    ("autodiff", "tensor"),
    ("tensor", "fast"),
    ("fast", "cuda"),
    ("tensor", "nn"),
]
WORKSPACE = Workspace.read()
LIBRARY = WORKSPACE.library()


@functools.cache
def counterparts(before: str, after: str) -> dict[str, tuple[str, str | None]]:
    """Return the category of each function, and the name of its counterpart."""
    below = [stage.import_name for stage in reversed(WORKSPACE.upstream(WORKSPACE[before]))]
    changes = compared_code(LIBRARY, below, WORKSPACE[after].import_name, FOR_USERS)
    return {
        change.after.name: (change.fate, change.before.name if change.before else None)
        for change in changes
    }


@pytest.mark.parametrize(
    ("before", "after", "function", "fate", "counterpart"),
    [
        ("operators", "autodiff", "core.scalar.Scalar.backward", "new idea", None),
        ("operators", "autodiff", "core.scalar.Scalar.__init__", "new idea", None),
        ("operators", "autodiff", "core.backpropagation.topological_sort", "new idea", None),
        ("operators", "autodiff", "core.mode.set_grad_enabled.__call__", "new idea", None),
        *(
            ("autodiff", "tensor", f"{place}.{name}", "rewritten", f"mt_autodiff.{counterpart}")
            for place, name, counterpart in [
                ("core.tensor.Tensor", "backward", "core.scalar.Scalar.backward"),
                ("core.tensor.Tensor", "detach", "core.scalar.Scalar.detach"),
                ("recording.functions.Function", "apply", "scalar_function.ScalarFunction.apply"),
                ("core.graph.Node", "chain_rule", "core.graph.History.chain_rule"),
            ]
        ),
        ("autodiff", "tensor", "core.strides.shape_broadcast", "new idea", None),
        ("autodiff", "tensor", "backends.listing.BackendInfo.status", "new idea", None),
        ("autodiff", "tensor", "order.scans.CumulativeSum.backward", "new idea", None),
        ("autodiff", "tensor", "core.dtypes.DType.__repr__", "new idea", None),
        *(
            (
                "tensor",
                "fast",
                f"core.parallel_loops.{name}",
                "rewritten",
                f"mt_tensor.{place}.{name}",
            )
            for name, place in [
                ("tensor_map", "core.simple"),
                ("tensor_zip", "core.simple"),
                ("tensor_reduce", "core.simple"),
                ("to_index", "course"),
                ("index_to_position", "core.strides"),
            ]
        ),
        ("tensor", "fast", "fused.losses._CrossEntropy.value", "new idea", None),
        ("tensor", "fast", "fused.normalization._LastDimensions.gradient", "new idea", None),
        ("tensor", "fast", "fused.dropout.dropout", "new idea", None),
        ("tensor", "fast", "core.source.loop", "new idea", None),
        (
            *("fast", "cuda", "core.backend.CudaOps.reduce", "rewritten"),
            "mt_fast.core.backend.FastOps.reduce",
        ),
        ("fast", "cuda", "core.simulator.Simulator.launch", "new idea", None),
        ("fast", "cuda", "core.backend._at", "new idea", None),
        (
            *("tensor", "nn", "core.module.Module.__call__", "rewritten"),
            "mt_operators.core.module.Module.__call__",
        ),
        ("tensor", "nn", "layers.activation.Softmax2d.forward", "new idea", None),
        ("tensor", "nn", "layers.function.FunctionLayer.forward", "new idea", None),
        ("tensor", "nn", "utils.conversion.cpu", "same", "mt_tensor.exchange.conversion.cpu"),
        ("tensor", "nn", "core.convolution.convolved", "new idea", None),
        ("tensor", "nn", "kernels.numpy.losses.CrossEntropy.value", "new idea", None),
    ],
)
def test_functions_are_judged_as_a_reader_would(
    before: str, after: str, function: str, fate: str, counterpart: str | None
) -> None:
    name = f"{WORKSPACE[after].import_name}.{function}"
    assert counterparts(before, after)[name] == (fate, counterpart)


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_a_function_has_one_version_and_most_are_ideas_of_their_stage(
    before: str, after: str
) -> None:
    found = counterparts(before, after)
    rewritten = [other for fate, other in found.values() if fate == "rewritten"]
    twice = {name for name in rewritten if rewritten.count(name) > 1}
    assert not twice
    assert len(rewritten) < len(found) / 5


def test_the_table_of_counterparts_names_existing_functions() -> None:
    names = {each for stage in LIBRARY.folders for each in functions(LIBRARY, stage, FOR_USERS)}
    owners = {function.owner for function in names}
    assert {owner for pair in KIN for owner in pair} <= owners


def test_names_that_stages_below_have_are_defined_anew() -> None:
    names = compared_names(
        Symbols(LIBRARY), ["mt_tensor", "mt_autodiff", "mt_operators"], "mt_nn", FOR_USERS
    )
    changed = {change.name: change.before.name for change in names.changed}
    assert changed["Module"] == "mt_operators.core.module.Module"
    assert changed["Parameter"] == "mt_operators.core.parameter.Parameter"
    assert "StateDictError" in names.passed_on
    assert not set(names.added) & {"Module", "Parameter"}


def test_new_dependencies_have_dependencies() -> None:
    found = {Requirement(each.requirement).name: each for each in gained_by("tensor", "fast")}
    assert set(found) == {"mt-tensor", "numba", "platformdirs"}
    assert {"llvmlite", "numpy"} <= {*(found["numba"].brings or ())}
    assert found["platformdirs"].brings == ()


def gained_by(before: str, after: str) -> tuple[Dependency, ...]:
    return gained(WORKSPACE[before], WORKSPACE[after])


def test_a_missing_package_has_unknown_dependencies() -> None:
    missing = replace(WORKSPACE["fast"], dependencies=(Requirement("not-installed-anywhere>=2"),))
    (found,) = gained(WORKSPACE["tensor"], missing)
    assert found.brings is None
    assert str(found) == "not-installed-anywhere>=2 (not installed here)"


# --- Experiments --------------------------------------------------------------------------------


@functools.cache
def results_of(before: str, after: str) -> tuple[Experiment, ...]:
    return tuple(experiments(WORKSPACE, WORKSPACE[before], WORKSPACE[after]))


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_an_experiment_works_with_the_stage_and_cannot_use_it_without(
    before: str, after: str
) -> None:
    for found in results_of(before, after):
        assert found.text
        assert found.after.worked, found.after.output
        assert found.before.worked is (after != "cuda"), found.before.output
        assert found.before.output


def numbers(output: str) -> list[float]:
    """Return the numbers in a text."""
    return [
        float(found.replace(",", "")) for found in re.findall(r"-?[\d,]+\.?\d*(?:e-?\d+)?", output)
    ]


def test_differences_take_a_loss_for_each_weight_and_lose_digits() -> None:
    (found,) = results_of("operators", "autodiff")
    before, after = numbers(found.before.output), numbers(found.after.output)
    assert (before[0], after[0]) == (8000, 1)
    assert before[-1] > 1e-11 > after[-1]


def test_scalars_remember_every_number() -> None:
    (found,) = results_of("autodiff", "tensor")
    before, after = numbers(found.before.output), numbers(found.after.output)
    assert before[0] > 200_000 > 10 > after[0]
    assert before[-1] == pytest.approx(after[-1], rel=1e-5)


def test_compiled_loops_find_the_same() -> None:
    for found in results_of("tensor", "fast"):
        before, after = numbers(found.before.output), numbers(found.after.output)
        assert before[-1] == pytest.approx(after[-1], rel=1e-4)


def test_a_forgotten_parameter_is_not_trained() -> None:
    convolution, forgotten = results_of("tensor", "nn")
    assert numbers(convolution.before.output)[-1] == pytest.approx(
        numbers(convolution.after.output)[-1], rel=1e-4
    )
    assert numbers(forgotten.before.output)[-1] > 50.0 > 0.1 > numbers(forgotten.after.output)[-1]


def test_every_stage_but_the_first_has_an_experiment() -> None:
    later = list(WORKSPACE.stages.values())[1:]
    assert {file.stem.partition("_")[0] for file in FOLDER.glob("*.py")} == {
        stage.short for stage in later
    }


# --- The command --------------------------------------------------------------------------------


@functools.cache
def comparison(before: str, after: str, parts: tuple[Part, ...] = CORE) -> Comparison:
    symbols = Symbols(WORKSPACE.library())
    return compared(WORKSPACE, symbols, WORKSPACE[before], WORKSPACE[after], parts=parts, run=False)


def test_a_comparison_of_everything_for_users() -> None:
    found = comparison("operators", "autodiff", FOR_USERS)
    assert found.names.added["Scalar"].name == "mt_autodiff.core.scalar.Scalar"
    assert "operators.zipWith" in found.names.left
    assert found.dependencies[0].requirement.startswith("mt-operators")
    assert found.sizes["mt-autodiff"].lines > 500
    assert found.fates().keys() >= {"new idea", "rewritten"}


def test_the_command_shows_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "mt-operators", "mt-autodiff", "--code", "--no-run"]) == 0
    shown = capsys.readouterr().out
    assert "What mt-autodiff adds to mt-operators" in shown
    assert "topological_sort" in shown


@pytest.mark.parametrize(("before", "after"), [("operators", "autodiff"), ("operators", "tensor")])
def test_on_a_terminal_of_any_width_nothing_is_cut_off(before: str, after: str) -> None:
    found = comparison(before, after)
    assert found.experiments == ()
    for width in (60, 80, 160):
        file = StringIO()
        show(found, Console(width=width, file=file), code=False)
        printed = file.getvalue()
        assert max(map(len, printed.splitlines())) <= width
        assert "…" not in printed
        # Names stand in a line of their own, which goes on in the next one if it has to.
        shown = "".join(printed.split())
        for name, symbol in found.names.added.items():
            place = f"{symbol.module.name}:{symbol.lines[0]}"
            assert "".join(f"{name}{symbol.signature}{symbol.summary}{place}".split()) in shown
        for change in found.code:
            if change.before:
                line = f"{change.after.name}{change.fate}, was {change.before.name}"
                assert "".join(line.split()) in shown


def test_an_unknown_stage_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["diff", "operators", "autodif"])
    assert "the stages are mt-operators" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("autodiff", "autodiff", "mt-autodiff adds nothing to itself"),
        ("nn", "operators", "mt-nn builds on mt-operators, not the other way round"),
        ("nn", "operators", "`mt diff operators nn`"),
        ("operators", "autodif", "mt-nn; is it autodiff?"),
    ],
)
def test_stages_in_the_wrong_order_are_an_error(
    before: str, after: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["diff", before, after])
    assert message in capsys.readouterr().err
