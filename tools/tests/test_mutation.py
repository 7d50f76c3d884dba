"""Mutation tests: which mutants count, which are drawn, and which tests run for them."""

import subprocess
from pathlib import Path

import pytest

from mt.mutation.mutants import changed, counts, drawn, equivalent
from mt.tables import TableError
from mt.workspace import ROOT

pytest.importorskip("coverage")

from coverage import CoverageData

from mt.mutation import run_tests
from mt.mutation.run_tests import FAR, TESTS, distances, mutated_line, selected

# --- Which mutants count --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = a < b", "x = a <= b"),
        ("def f(x=1): pass", "def f(x=2): pass"),
        ("x: int = 1", "x: int = 2"),
        ("if a: raise E(1)", "if not a: raise E(1)"),
        ("class A:\n    x = f(1)", "class A:\n    x = f(2)"),
    ],
)
def test_mutant_that_changes_a_result_counts(before: str, after: str) -> None:
    assert counts(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x: A | B) -> A | B: pass", "def f(x: A & B) -> A & B: pass"),
        ("x: A | B = 1", "x: A & B = 1"),
        ("raise E(1)", "raise E(2)"),
        ("x = f'{a + b}'", "x = f'{a - b}'"),
        ("message = a + b", "message = a - b"),
        ("def __repr__(self): return 1", "def __repr__(self): return 2"),
        ("@overload\ndef f(x=1): ...", "@overload\ndef f(x=2): ..."),
        ("@dataclass(frozen=True)\nclass A: pass", "@dataclass(frozen=False)\nclass A: pass"),
        ("x = zip(a, strict=True)", "x = zip(a, strict=False)"),
        ("if TYPE_CHECKING: x = 1", "if TYPE_CHECKING: x = 2"),
        ("def f(x, *, y): pass", "def f(x, +, y): pass"),
    ],
)
def test_mutant_of_annotations_messages_or_invalid_syntax_does_not_count(
    before: str, after: str
) -> None:
    assert not counts(before, after)


def test_equivalent_mutants_are_matched_without_spaces(tmp_path: Path) -> None:
    table = tmp_path / "equivalent.toml"
    entry = '[[mutant]]\nfile = "a.py"\nfunction = "g"\nbefore = "x = f(1)"\nafter = ["x = f(2)"]\n'
    table.write_text(entry + 'reason = "It is never called."')
    lines = changed("\n\n    x = f(1)\ny\n", "\n\n    x = f( 2)\ny\n")
    assert equivalent(table) == {("a.py", "g", *lines): "It is never called."}
    table.write_text(entry)
    with pytest.raises(TableError, match="'reason' is missing"):
        equivalent(table)


def test_every_line_of_the_equivalent_mutants_is_in_the_code() -> None:
    for file, function, before, _ in equivalent():
        (path,) = ROOT.glob(f"packages/*/{file}")
        code = "".join(path.read_text().split())
        assert before in code, f"{file} has no line {before}"
        assert not function or f"def{function}(" in code or f"class{function}" in code


# --- Which mutants are drawn ----------------------------------------------------------------------


def test_mutants_are_drawn_reproducibly_and_at_most_once_per_place(tmp_path: Path) -> None:
    init = pytest.importorskip("cosmic_ray.commands.init", reason="it has its own environment")
    file = tmp_path / "code.py"
    file.write_text("\n".join(f"x{number} = a{number} + {number}" for number in range(20)))
    items = list(init._all_work_items([file], {}))
    first, again, other = (drawn(items, 15, seed, ()) for seed in (1, 1, 2))
    places = {item.mutations[0].start_pos for item in first}
    assert len(first) == len(places) == 15
    assert first == again != other
    assert len(drawn(items, 100, 1, ())) == 40  # two places in each line: an operator and a number
    ignored = {(str(file), "", "x0=a0+0", f"x0=a0+{number}") for number in (1, -1)}
    assert len(drawn(items, 100, 1, ignored)) == 39


# --- Which tests run ------------------------------------------------------------------------------


def test_distance_of_a_test_depends_on_the_lines_it_executes(tmp_path: Path) -> None:
    data = CoverageData(str(tmp_path / ".coverage"))
    file, near, far = (str(tmp_path / name) for name in ("a/x.py", "a/y.py", "b/z.py"))
    for context, lines in {
        "": {file: [1, 5]},
        "t::same[1]|run": {file: [1, 5], far: [1]},
        "t::same[2]|run": {file: [5]},
        "t::same[2]|setup": {file: [7]},
        "t::third|run": {file: [2]},
        "t::folder|run": {near: [5]},
        "t::other|run": {far: [5]},
    }.items():
        data.set_context(context)
        data.add_lines(lines)
    found = distances(data, Path(file), 5)
    assert found == {
        "t::same[1]": 0,
        "t::same[2]": 0,
        "t::third": 3,
        "t::folder": FAR,
        "t::other": 2 * FAR,
    }


def test_selection_alternates_between_test_functions_up_to_a_limit() -> None:
    assert selected({"a[1]": 0, "a[2]": 0, "b": 0, "c[1]": 3}) == ["a[1]", "b", "a[2]", "c[1]"]
    many = {f"a[{number}]": number for number in reversed(range(2 * TESTS))}
    assert selected(many) == [f"a[{number}]" for number in range(TESTS)]


def test_mutated_line_is_found_in_the_git_diff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    file = tmp_path / "code.py"
    file.write_text("a\nb\nc\n")
    git("add", ".")
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    assert mutated_line() == (tmp_path, 0)
    file.write_text("a\nd\nc\n")
    assert mutated_line() == (file, 2)
