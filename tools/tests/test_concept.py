"""The map of concepts, what is run for each, and the command that shows them."""

import json
import math
import shutil
import sys
from pathlib import Path

import pytest

from mt.__main__ import main
from mt.concept.kernels import kernel_text
from mt.concept.maps import (
    BACKENDS,
    COLUMNS,
    FOLDER,
    ConceptError,
    GeneratedKernel,
    concept_of,
    read_map,
    unresolved,
)
from mt.concept.running import FOLDER as INPUTS
from mt.concept.running import Input, Result, input_of, results
from mt.source.symbols import Symbols
from mt.workspace import Workspace

CONCEPTS = read_map()
KERNELS = [
    (name, step.column, step.kernel)
    for name, concept in CONCEPTS.items()
    for step in concept.steps
    if step.kernel
]


NOT_RUN = {"random numbers": {"operators"}}
"""Columns in which nothing can be run: Python's generator has other numbers than NumPy's."""


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
    simple = "mt_tensor.backends.simple.tensor_reduce"
    planted = text.replace(f'["{simple}"]', f'[\n    "{simple}",\n    "{simple}r",\n]')
    (tmp_path / "sum.toml").write_text(planted)
    line = planted.splitlines().index(f'    "{simple}r",') + 1
    (report,) = unresolved(read_map(tmp_path).values(), symbols)
    assert report.startswith(f"sum.toml:{line}: concept 'sum', column 'simple': {simple}r: ")
    assert report.endswith("Is it tensor_reduce or tensor_zip or tensor_map?")


STEP = '[[steps]]\ncolumn = "tensor"\ntext = "b"\nsymbols = []\n'
NUMPY = STEP.replace("tensor", "numpy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text = a", r"bad\.toml: Invalid value \(at line 1, column 8\)"),
        (STEP, r"bad\.toml:1: 'text' is missing"),
        ('text = "a"\nsteps = []\ntxt = 1', "bad.toml:1: 'txt' is unknown; there are text, steps"),
        ("text = 1\n" + STEP, "bad.toml:1: 'text' must be of type str; 1 was given"),
        ('text = "a"\nsteps = [{}]', r"bad\.toml:1: each step must be a table of its own"),
        ('text = "a"\n' + STEP + "text2 = 1", "bad.toml:2: 'text2' is unknown"),
        ('text = "a"\n' + STEP.replace("tensor", "tens"), "bad.toml:2: there is no column 'tens'"),
        ('text = "a"\n' + NUMPY + STEP, "bad.toml:6: 'tensor' comes after 'numpy'"),
        ('text = "a"\n' + STEP + STEP, "bad.toml:6: 'tensor' comes after 'tensor'"),
        ('text = "a"\n' + STEP + 'kernel = { name = "exp" }', "bad.toml:2: 'tensor' generates no"),
        ('text = "a"\n' + STEP + 'kernel = { nam = "exp" }', "bad.toml:2: 'name' is missing"),
        ('text = "a"\nalso = [1]\n' + STEP, r"bad\.toml:1: 'also' must hold names; \[1\] was"),
        ('text = "a"\nalso = ["top_sort"]\n' + STEP, "write 'top_sort' as 'top sort'"),
        ('text = "a"\nalso = ["good"]\n' + STEP, r"good\.toml: 'good' is what bad\.toml is called"),
    ],
)
def test_a_map_that_is_not_what_it_should_be_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "bad.toml").write_text(text)
    (tmp_path / "good.toml").write_text('text = "a"\n' + STEP)
    with pytest.raises(ConceptError, match=message):
        read_map(tmp_path)


def test_a_text_may_be_broken_into_lines(tmp_path: Path) -> None:
    (tmp_path / "top_sort.toml").write_text('text = """\na\nb"""\n' + STEP)
    concept = read_map(tmp_path)["top sort"]
    assert concept.text == "a b"
    assert [step.line for step in concept.steps] == [4]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("sum", "sum"),
        ("Topological-Sort", "topological sort"),
        ("toposort", "topological sort"),
        ("no_grad", "no grad"),
        ("conv", "convolution"),
        ("create_graph", "higher derivative"),
        ("zipWith", "zip"),
    ],
)
def test_a_concept_has_several_names(asked: str, name: str) -> None:
    assert concept_of(CONCEPTS, asked).name == name


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConceptError, match="'broadcats'. Is it broadcast or"):
        concept_of(CONCEPTS, "broadcats")


# --- What is generated --------------------------------------------------------------------------


@pytest.mark.parametrize(("concept", "column", "kernel"), KERNELS)
def test_every_kernel_of_the_map_can_be_shown(
    concept: str, column: str, kernel: GeneratedKernel
) -> None:
    text = kernel_text(column, kernel, input_of(concept).functions)
    assert text.startswith("def ")
    compile(text, "<kernel>", "exec")


def test_a_function_of_the_input_is_fused() -> None:
    functions = input_of("fusing").functions
    text = kernel_text("fast", GeneratedKernel("_bump", "flat", gradient=True), functions)
    assert text.startswith("def _bump_gradient_01_float32_flat(")
    assert "upstream" in text


def test_a_kernel_of_nothing_is_refused() -> None:
    with pytest.raises(ConceptError, match="'bump' is no operator of the table"):
        kernel_text("fast", GeneratedKernel("bump"), input_of("fusing").functions)


# --- What is run --------------------------------------------------------------------------------


def test_every_concept_has_an_input_and_every_input_a_concept() -> None:
    assert {file.stem for file in INPUTS.glob("*.py")} == {f.stem for f in FOLDER.glob("*.toml")}


@pytest.mark.parametrize("name", CONCEPTS)
def test_every_column_computes_what_is_right(name: str) -> None:
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
        assert found[column].error <= 1e-5, column
        assert found[column].seconds > 0.0
        if column != "operators":  # which differentiates only where it is told how
            assert (found[column].gradient is None) is (right[1] is None), column


def test_the_naive_order_is_wrong() -> None:
    found = results(input_of("topological sort"), ("autodiff",))
    assert found["autodiff"].gradient == 4.0
    assert found["naive"].gradient == 2.0
    assert found["naive"].error == 2.0


def _compared(value: object, gradient: object = None) -> Result:
    """Return the result of a program of which [1, 2] is the right value, and 3 the gradient."""
    functions = {"reference": lambda: ([1.0, 2.0], 3.0), "autodiff": lambda: (value, gradient)}
    return results(Input("", functions), ("autodiff",))["autodiff"]


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


def test_the_command_lists_all_concepts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concept"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(CONCEPTS)


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concept", "toposort", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["name"] == "topological sort"
    assert "toposort" in found["also"]
    assert "2 to the power n" in found["steps"][0]["text"]
    shown = found["steps"][0]["symbols"][0]
    assert shown["symbol"] == "mt_autodiff.backpropagation.topological_sort"
    assert shown["text"].startswith("def topological_sort(")
    assert shown["line"] > 1
    assert {name: result["gradient"] for name, result in found["results"].items()} == {
        "autodiff": 4.0,
        "tensor": 4.0,
        "naive": 2.0,
    }


def test_the_command_shows_columns_code_and_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concept", "zip"]) == 0
    shown = capsys.readouterr().out
    for column in ("operators", "autodiff", "tensor", *BACKENDS):
        assert f" {column} " in shown
    assert "def mul_gradient_01_float32_flat(" in shown
    assert "Four pairs of numbers are multiplied" in shown
    assert "-0.9375" in shown


def test_the_command_runs_nothing_if_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concept", "sum", "--no-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"] == {}


def test_the_command_refuses_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["concept", "summ"])
    assert "mt concept: no concept is called 'summ'. Is it sum or " in capsys.readouterr().err
