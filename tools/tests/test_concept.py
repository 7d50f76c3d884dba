"""The map of concepts, the inputs that run for each, and the command that shows them."""

import math
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import pytest

from mt.__main__ import main
from mt.concept.kernels import kernel_text
from mt.concept.maps import (
    BACKENDS,
    COLUMNS,
    FOLDER,
    Counterexample,
    GeneratedKernel,
    read_map,
    unresolved,
)
from mt.concept.running import FOLDER as INPUTS
from mt.concept.running import Input, Result, input_of, results
from mt.concept.view import view
from mt.source.symbols import Symbols
from mt.tables import TableError
from mt.workspace import Workspace

CONCEPTS = read_map()
KERNELS = [
    (name, step.column, step.kernel)
    for name, concept in CONCEPTS.items()
    for step in concept.steps
    if step.kernel
]


NOT_RUN = {"random numbers": {"operators"}}
"""Columns without a result: Python's generator differs from NumPy's."""


@pytest.fixture(scope="module")
def symbols() -> Symbols:
    return Symbols(Workspace.read().library())


# --- The map ------------------------------------------------------------------------------------


def test_every_name_of_the_map_is_in_the_source(symbols: Symbols) -> None:
    assert list(unresolved(CONCEPTS.values(), symbols)) == []


def test_a_wrong_name_is_reported_with_its_place(symbols: Symbols, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    text = (FOLDER / "sum.toml").read_text()
    # The name of the column before is right, and stands above it.
    simple = "mt_tensor.core.simple.tensor_reduce"
    planted = text.replace(f'["{simple}"]', f'[\n    "{simple}",\n    "{simple}r",\n]')
    (tmp_path / "sum.toml").write_text(planted)
    line = planted.splitlines().index(f'    "{simple}r",') + 1
    (report,) = unresolved(read_map(tmp_path).values(), symbols)
    assert report.startswith(f"sum.toml:{line}: concept 'sum', column 'simple': {simple}r: ")
    assert report.endswith("Is it tensor_reduce or tensor_zip or tensor_map?")


HEAD = 'text = "a"\nasks = []\n'
STEP = '[[steps]]\ncolumn = "tensor"\ntext = "b"\nsymbols = []\n'
COUNTER = '[[counterexamples]]\nname = "naive"\nproves = "slow"\ntext = "c"\n'
NUMPY = STEP.replace("tensor", "numpy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text = a", r"bad\.toml: Invalid value \(at line 1, column 8\)"),
        (STEP, r"bad\.toml:1: 'text' is missing"),
        ('text = "a"\n' + STEP, r"bad\.toml:1: 'asks' is missing"),
        (HEAD + "steps = []\ntxt = 1", "bad.toml:1: 'txt' is unknown; there are text, asks, steps"),
        ("text = 1\nasks = []\n" + STEP, "bad.toml:1: 'text' must be of type str; 1 was given"),
        (HEAD + "steps = [{}]", r"bad\.toml:1: each step must be a separate table"),
        (HEAD + STEP + "text2 = 1", "bad.toml:3: 'text2' is unknown"),
        (HEAD + STEP.replace("tensor", "tens"), "bad.toml:3: unknown column 'tens'"),
        (HEAD + NUMPY + STEP, "bad.toml:7: 'tensor' comes after 'numpy'"),
        (HEAD + STEP + STEP, "bad.toml:7: 'tensor' comes after 'tensor'"),
        (HEAD + STEP + 'kernel = { name = "exp", layout = "a" }', "bad.toml:3: 'layout' is unk"),
        (HEAD + STEP + 'kernel = { nam = "exp" }', "bad.toml:3: 'name' is missing"),
        (HEAD + "also = [1]\n" + STEP, r"bad\.toml:1: 'also' must hold values of type str; \[1\]"),
        (HEAD + 'also = ["top_sort"]\n' + STEP, "write 'top_sort' as 'top sort'"),
        (HEAD + 'also = ["good"]\n' + STEP, r"good\.toml: 'good' is already a name of bad\.toml"),
    ],
)
def test_an_invalid_map_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    (tmp_path / "good.toml").write_text(HEAD + STEP)
    with pytest.raises(TableError, match=message):
        read_map(tmp_path)


def test_a_text_may_be_broken_into_lines(tmp_path: Path) -> None:
    (tmp_path / "top_sort.toml").write_text('text = """\na\nb"""\nasks = []\n' + STEP)
    concept = read_map(tmp_path)["top sort"]
    assert concept.text == "a b"
    assert [step.line for step in concept.steps] == [5]


# --- What is generated --------------------------------------------------------------------------


@pytest.mark.parametrize(("concept", "column", "kernel"), KERNELS)
def test_every_kernel_of_the_map_can_be_shown(
    concept: str, column: str, kernel: GeneratedKernel
) -> None:
    text = kernel_text(column, kernel, input_of(concept).functions)
    if column in ("fast", "cuda"):
        assert text.startswith("def ")
        compile(text, "<kernel>", "exec")
    else:
        assert text.startswith("step: ")
        assert "  x0 := " in text


def test_shown_functions_of_a_stage_belong_to_the_input() -> None:
    with pytest.raises(TableError, match="'proram' is not a function of the input.*program"):
        kernel_text("tensor", GeneratedKernel("proram"), input_of("program").functions)


def test_a_function_of_the_input_is_fused() -> None:
    functions = input_of("fusing").functions
    text = kernel_text("fast", GeneratedKernel("_bump", "flat", gradient=True), functions)
    assert text.startswith("def _bump_gradient_01_float32_flat(")
    assert "upstream" in text


def test_a_repeated_argument_is_read_before_the_loop() -> None:
    (kernel,) = [kernel for name, _, kernel in KERNELS if kernel.repeats and name == "broadcast"]
    text = kernel_text("fast", kernel, input_of("broadcast").functions)
    assert text.index("scale_value = ") < text.index("for i in range(n):")


def test_a_kernel_of_an_unknown_function_is_an_error() -> None:
    with pytest.raises(TableError, match="'bump' is not an operator of the table"):
        kernel_text("fast", GeneratedKernel("bump"), input_of("fusing").functions)


# --- What is run --------------------------------------------------------------------------------


def test_every_concept_has_an_input_and_every_input_a_concept() -> None:
    assert {file.stem for file in INPUTS.glob("*.py")} == {f.stem for f in FOLDER.glob("*.toml")}


@pytest.mark.parametrize("name", CONCEPTS)
def test_every_column_has_the_right_result(name: str) -> None:
    columns = [step.column for step in CONCEPTS[name].steps]
    given = input_of(name)
    assert given.text
    unused = {column for column in given.functions if column in COLUMNS} - set(columns)
    assert not unused, f"these functions are run in no column: {unused}"
    found = results(given, columns)
    assert set(columns) - set(found) == NOT_RUN.get(name, set())
    right = given.functions["reference"]()
    for column in set(columns) & set(found):
        assert found[column].failure == ""
        assert found[column].is_right, column
        assert found[column].seconds > 0.0
        if column != "operators":  # which differentiates only where it is told how
            assert (found[column].gradient is None) is (right[1] is None), column


COUNTEREXAMPLES = [(name, each) for name in CONCEPTS for each in CONCEPTS[name].counterexamples]


@pytest.mark.parametrize(("name", "counterexample"), COUNTEREXAMPLES)
def test_a_counterexample_has_the_stated_flaw(name: str, counterexample: Counterexample) -> None:
    given = input_of(name)
    assert set(counterexample.shown) <= set(given.sources)
    (found,) = results(given, (), [counterexample]).values()
    assert found.is_right is (counterexample.proves == "slow")
    assert bool(found.failure) is (counterexample.proves == "refused")
    assert found.cells()[2].endswith(": wrong") is (counterexample.proves == "wrong")


def test_a_naive_order_takes_half_of_a_derivative_along() -> None:
    found = results(
        input_of("topological sort"), ("autodiff",), CONCEPTS["topological sort"].counterexamples
    )
    assert found["autodiff"].gradient == [4.0, 2.0**14]
    assert found["naive"].gradient == [2.0, 2.0]
    assert found["naive"].error == 2.0**14 - 2.0


def test_every_path_is_walked_again_and_again() -> None:
    functions = input_of("topological sort").functions

    def visits(program: str) -> int:
        calls: Counter[str] = Counter()

        def count(frame: FrameType, event: str, _: object) -> None:
            calls[frame.f_code.co_name] += event == "call"

        sys.setprofile(count)
        try:
            functions[program]()
        finally:
            sys.setprofile(None)
        return calls["visit"]

    steps = functions["naive"].__globals__["STEPS"]
    assert visits("naive") == sum(length + 1 for length in steps)
    assert visits("every_path") == sum(2 ** (length + 1) - 1 for length in steps)


def _compared(value: object, gradient: object = None) -> Result:
    """Return the result of a program; [1, 2] is the right value, and 3 the gradient."""
    functions = {"reference": lambda: ([1.0, 2.0], 3.0), "autodiff": lambda: (value, gradient)}
    return results(Input("", functions, {}), ("autodiff",))["autodiff"]


def test_the_error_is_the_largest_difference() -> None:
    assert _compared([1.0, 2.0]).error == 0.0
    assert _compared([1.5, 2.25]).error == 0.5
    assert _compared([1.0, 2.0], 5.0).error == 2.0
    assert _compared([1.0, math.nan]).error == math.inf
    with pytest.raises(ValueError, match="longer"):
        _compared([1.0])


def test_a_backend_that_is_missing_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mt_tensor", None)
    found = results(input_of("sum"), ("autodiff", *BACKENDS))
    assert found["autodiff"].failure == ""
    assert found["numpy"].failure.startswith("ModuleNotFoundError: ")


# --- The command --------------------------------------------------------------------------------


def test_a_view_has_the_code_and_the_results(symbols: Symbols) -> None:
    shown = view(CONCEPTS["topological sort"], symbols)
    symbol = shown.steps[0].symbols[0]
    assert symbol.name == "mt_autodiff.core.backpropagation.topological_sort"
    assert symbol.text.startswith("def topological_sort(")
    assert {name: result.is_right for name, result in shown.results.items()} == {
        "autodiff": True,
        "tensor": True,
        "naive": False,
        "every path": True,
    }
    assert [each.counterexample.proves for each in shown.counterexamples] == ["wrong", "slow"]
    assert "2 to the power n" in shown.counterexamples[0].counterexample.text
    assert shown.counterexamples[0].code.startswith("def on_first_contribution(")


def test_the_command_shows_columns_code_and_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concept", "zip"]) == 0
    shown = capsys.readouterr().out
    for column in ("operators", "autodiff", "tensor", *BACKENDS):
        assert f" {column} " in shown
    assert "def mul_gradient_01_float32_flat(" in shown
    assert "Four pairs of numbers are multiplied" in shown
    assert "-0.9375" in shown


def test_the_command_can_skip_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mt.concept.view.results", pytest.fail)
    assert main(["concept", "sum", "--no-run"]) == 0
