"""Faults are planted in code, are detected by tests, and leave the workspace unchanged."""

import ast
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mt.errors import ToolError
from mt.mutate import equivalents
from mt.mutate.equivalents import equivalent, key
from mt.mutate.faults import Fault, effective, places
from mt.tables import TableError
from mt.workspace import ROOT, Workspace

pytest.importorskip("coverage")

from coverage import CoverageData

from mt.mutate.command import EXCLUDED, Outcome, _outcome, _read, _sizes, drawn, main
from mt.mutate.tests_of import Recording
from mt.mutate.tree import Done, Tree

WORKSPACE = Workspace.read()


def changes(folder: Path, code: str) -> set[str]:
    """Return the changes that faults make in some code."""
    file = folder / "code.py"
    file.write_text(textwrap.dedent(code))
    return {fault.change for place in places(file, folder) for fault in place}


# --- What is planted ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("x = a < b", {"a < b -> a <= b"}),
        ("x = (a) == (b)", {"a) == (b -> a) != (b"}),
        ("x = a is not b", {"a is not b -> a is b"}),
        ("x = a in b", {"a in b -> a not in b"}),
        ("x = a < b <= c", {"a < b -> a <= b", "b <= c -> b < c"}),
        ("x = a and b", {"a and b -> a or b"}),
        ("x = not a", {"not a -> a"}),
        ("x = -a", {"-a -> a"}),
        ("x = a // b", {"a // b -> a * b"}),
        ("x = a ** b", {"a ** b -> a * b"}),
        ("x = 7", {"7 -> 8", "7 -> (6)", "7 -> 0"}),
        ("x = 0", {"0 -> 1", "0 -> (-1)"}),
        ("x = 0.5", {"0.5 -> 5.0"}),
        ("x = True", {"True -> False"}),
        ("x = a if b else c", {"b -> True", "b -> False"}),
        ("x = [a for a in b if c]", {"c -> True", "c -> False"}),
        ("x = a[b:c]", {"b -> (b) + 1", "c -> (c) - 1"}),
        ("f(a)", {"f(a) -> pass"}),
        ("x = f(a, b, key=c)", {", b -> ", ", key=c -> "}),
        ("x = f(key=c, **d)", {"key=c, -> "}),
        ("x.y = a", {"x.y = a -> pass"}),
        ("x: int = 1; x = a", {"1 -> 2", "1 -> (0)", "1 -> 0"}),
        ("x = a; x = b", {"x = b -> pass"}),
        ("x += a", {"x += a -> pass", "x += a -> x -= a"}),
        ("del x[a]", {"del x[a] -> pass"}),
        ("raise E(1)", {"raise E(1) -> pass"}),
        ("def f(x=a):\n    x = b", {"x = b -> pass"}),
        ("def f():\n    return a", {"return a -> return None"}),
        ("def f():\n    return None", set()),
        ("while a:\n    break", {"a -> False", "break -> continue"}),
        ("for x in a:\n    continue", {"continue -> break"}),
        ("if a:\n    b()", {"a -> True", "a -> False", "b() -> pass"}),
        ("with a:\n    b()", {"with a -> if True", "b() -> pass"}),
        ("with a as x:\n    b()", {"b() -> pass"}),
        (
            "try:\n    x = a\nexcept (A, B):\n    x = b",
            {"x = b -> raise", "(A, B) -> (B,)", "(A, B) -> (A,)", "x = b -> pass"},
        ),
    ],
)
def test_the_planted_faults(tmp_path: Path, code: str, wanted: set[str]) -> None:
    assert changes(tmp_path, code) == wanted


@pytest.mark.parametrize(
    "code",
    [
        '"""Text, 1 < 2."""',
        "def f(x: Literal[1]) -> Literal[2]:\n    '''3'''",
        "class A:\n    x: Annotated[int, 1]",
        "if TYPE_CHECKING:\n    x = 1",
        "__all__ = [*f(1, 2)]",
        "def f():\n    message = g(1, 2)",
        "def __repr__(self):\n    return 1",
        "@overload\ndef f(x=1): ...",
        "@dataclass(frozen=True)\nclass A:\n    pass",
        "x = zip(a, strict=True)",
        "T = TypeVar('T', bound=a)",
        "x = f(help=1, color=0.5)",
    ],
)
def test_code_that_does_not_compute_has_no_faults(tmp_path: Path, code: str) -> None:
    assert changes(tmp_path, code) == set()


def test_every_fault_is_python_that_reads_otherwise() -> None:
    stage = WORKSPACE["autodiff"]
    for fault in drawn(list(effective(stage.source, ROOT, EXCLUDED)), 100, seed=1):
        assert ast.dump(ast.parse(fault.planted)) != ast.dump(ast.parse(fault.source)), fault


def fault_in(folder: Path, code: str, change: str) -> Fault:
    """Return the fault of some code with this change."""
    file = folder / "code.py"
    file.write_text(code)
    found = [fault for place in places(file, folder) for fault in place if fault.change == change]
    return found[0]


def test_a_fault_keeps_its_name_when_lines_move(tmp_path: Path) -> None:
    code = "def f(x):\n    ä = 'ö'; return x + 1  # twice\n"
    fault = fault_in(tmp_path, code, "1 -> 2")
    moved = fault_in(tmp_path, "import os\n\n" + code, "1 -> 2")
    other = fault_in(tmp_path, code.replace("twice", "once"), "1 -> 2")
    assert fault.name == moved.name != other.name
    assert (fault.function, fault.number, moved.number) == ("f", 2, 4)
    assert (
        "-    ä = 'ö'; return x + 1  # twice\n+    ä = 'ö'; return x + 2  # twice"
        in fault.difference
    )


def test_equal_changes_have_different_names(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text("x = a\nx = a\nx = a\n")
    names = [fault.name for place in places(file, tmp_path) for fault in place]
    assert len(names) == len(set(names)) == 2


# --- Which are drawn ------------------------------------------------------------------------------


def test_a_seed_draws_the_same_faults_wherever_they_are(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    lines = [f"x{number} = a{number} + {number}" for number in range(40)]
    file.write_text("\n".join(lines))
    first = [fault.name for fault in drawn(places(file, tmp_path), 20, seed=1)]
    other = [fault.name for fault in drawn(places(file, tmp_path), 20, seed=2)]
    file.write_text("\n".join(reversed(lines[5:])))
    after = [fault.name for fault in drawn(places(file, tmp_path), 20, seed=1)]
    assert len(first) == len(set(first)) == 20
    assert first != other
    stays = [name for name in first if name in after]
    assert after[: len(stays)] == stays or set(stays) <= set(after)
    assert len(stays) >= 15


def test_large_packages_have_more_of_the_sample() -> None:
    assert _sizes({"a": 100, "b": 300}, 480) == {"a": 140, "b": 340}
    assert _sizes({"a": 100, "b": 300}, 20) == {"a": 10, "b": 10}


# --- Equivalent faults ---------------------------------------------------------------------------


def test_every_equivalent_fault_has_a_reason() -> None:
    packages = {stage.name for stage in WORKSPACE.stages.values()}
    for file in equivalents.FOLDER.glob("*.toml"):
        assert file.stem in packages
        assert all(len(reason) > 10 for reason in equivalent(file.stem).values())


def test_equivalent_faults_are_matched_by_their_text(tmp_path: Path) -> None:
    fault = fault_in(tmp_path, "def f(x):\n    return x + 1\n", "1 -> 2")
    entry = {
        "file": fault.file,
        "function": "f",
        "line": "return x + 1",
        "change": "1 -> 2",
        "reason": "It is never called.",
    }
    text = "\n".join(
        ["[[fault]]", *(f"{name} = {json.dumps(text)}" for name, text in entry.items())]
    )
    (tmp_path / "mt-some.toml").write_text(text)
    assert equivalent("mt-some", tmp_path) == {key(fault): "It is never called."}
    assert equivalent("mt-other", tmp_path) == {}
    (tmp_path / "mt-some.toml").write_text(f"{text}\n{text}")
    with pytest.raises(TableError, match="twice"):
        equivalent("mt-some", tmp_path)


# --- Which tests run ------------------------------------------------------------------------------


def test_a_recording_has_the_tests_of_each_line(tmp_path: Path) -> None:
    source = tmp_path / "code"
    source.mkdir()
    (source / "__init__.py").write_text("def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    (tmp_path / "test_it.py").write_text(
        "import code_, subprocess, sys, pytest\n"
        "def test_one(): assert code_.one() == 1\n"
        "def test_two(): assert code_.two() == 3\n"
        "def test_program(): subprocess.run([sys.executable, '-c', ''], check=True)\n"
        "def test_skipped(): pytest.skip()\n"
    )
    source.rename(tmp_path / "code_")
    folder = tmp_path / "recorded"
    folder.mkdir()
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."),
            *("-p", "mt.mutate.recording", f"--record={folder}"),
            *(f"--lines-of={tmp_path / 'code_'}", "test_it.py"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT / "tools")))},
        capture_output=True,
        check=False,
    )
    noted = json.loads(next(folder.glob("*.json")).read_text())
    assert set(noted["seconds"]) == {f"test_it.py::test_{n}" for n in ("one", "two", "program")}
    assert noted["failed"] == ["test_it.py::test_two"]
    assert noted["starting"] == ["test_it.py::test_program"]
    lines = CoverageData(str(next(folder.glob("*.coverage*"))))
    lines.read()
    executed = lines.contexts_by_lineno("code_/__init__.py")
    assert executed[2] == ["test_it.py::test_one"]
    assert executed[6] == ["test_it.py::test_two"]


def recording(folder: Path, executed: dict[str, list[int]], **noted: list[str]) -> Recording:
    """Return a recording of tests that take a second each."""
    file = folder / "lines.coverage"
    file.unlink(missing_ok=True)
    lines = CoverageData(str(file))
    for test, numbers in executed.items():
        lines.set_context(test)
        lines.add_lines({"code.py": numbers})
    lines.write()
    tests = filter(None, executed)
    made = Recording(folder, seconds=dict.fromkeys(tests, 1.0), failed=noted.get("failed", []))
    made.compiled = {"code.py": {"2": noted.get("compiled", [])}}
    return made


def test_tests_that_execute_the_line_run_first_one_of_each_function(tmp_path: Path) -> None:
    fault = fault_in(tmp_path, "def f(x):\n    return x + 1\n", "1 -> 2")
    executed = {"t::a[1]": [2], "t::a[2]": [2], "t::b": [2], "t::fails": [2], "t::other": []}
    known = recording(tmp_path, executed, failed=["t::fails"])
    first = ["t::a[1]", "t::b", "t::a[2]"]
    assert known.tests_for(fault, 60, thorough=False) == [*first, "t::other"]
    assert known.tests_for(fault, 2, thorough=False)[:2] == first[:2]
    assert set(known.tests_for(fault, 2, thorough=True)) == set(executed) - {"t::fails"}


def test_each_kind_of_tests_has_its_share_of_the_time(tmp_path: Path) -> None:
    fault = fault_in(tmp_path, "def f(x):\n    return x + 1\n", "1 -> 2")
    executed = {f"t::line{n}": [2] for n in range(5)} | {f"t::other{n}": [] for n in range(5)}
    found = recording(tmp_path, executed).tests_for(fault, 2, thorough=False)
    assert found == ["t::line0", "t::line1", "t::line2", "t::line3", "t::line4", "t::other0"]


def test_compiling_tests_run_first_without_executing_ones(tmp_path: Path) -> None:
    fault = fault_in(tmp_path, "def f(x):\n    return x + 1\n", "1 -> 2")
    executed: dict[str, list[int]] = {"t::far": [], "t::near": [1], "t::compiles": []}
    known = recording(tmp_path, executed, compiled=["t::compiles"])
    assert known.tests_for(fault, 60, thorough=False) == ["t::compiles", "t::near", "t::far"]


# --- How they run ---------------------------------------------------------------------------------


def test_python_never_imports_stale_bytecode() -> None:
    with Tree() as tree:
        name, seen = "tools/mt/errors.py", []
        for value in b"12":
            tree.write(name, b"X = %c\n" % value)
            os.utime(tree.root / name, (1, 1))
            command = [sys.executable, "-c", "import mt.errors; print(mt.errors.X)"]
            environment = {**os.environ, "PYTHONPATH": str(tree.root / "tools")}
            seen.append(subprocess.check_output(command, env=environment, text=True).strip())
        assert seen == ["1", "2"]
    assert not tree.folder.exists()


def test_nothing_is_planted_in_a_file_that_has_changed_meanwhile(tmp_path: Path) -> None:
    stage = WORKSPACE["operators"]
    fault = next(effective(stage.source, ROOT, EXCLUDED))[0]
    with Tree() as tree:
        tree.write(fault.file, fault.source + b"# and more")
        with pytest.raises(ToolError, match="has changed since"):
            _outcome(tree, stage, fault, [], Recording(tmp_path), unchanged=False)


@pytest.mark.parametrize(
    ("done", "wanted"),
    [
        (Done(0, ""), Outcome(False, "passed 7 tests")),
        (Done(1, "FAILED a - b"), Outcome(True, "by FAILED a - b")),
        (Done(1, "Timeout (0:01:00)!"), Outcome(True, "by a time limit")),
        (Done(None, ""), Outcome(True, "by a time limit")),
        (Done(-11, ""), Outcome(True, "with status -11")),
        (Done(4, "ERROR collecting a"), Outcome(True, "by ERROR collecting a")),
        (Done(4, "ImportError while loading conftest 'a'"), Outcome(True, "with status 4")),
    ],
)
def test_how_an_end_of_pytest_is_read(done: Done, wanted: Outcome) -> None:
    assert _read(done, 7) == wanted


@pytest.mark.parametrize("status", [4, 5])
def test_without_tests_nothing_is_reported(status: int) -> None:
    with pytest.raises(ToolError, match="could not run"):
        _read(Done(status, "no tests ran"), 7)


def test_a_fault_is_shown_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    place = next(effective(WORKSPACE["operators"].source, ROOT, EXCLUDED))
    assert main(["operators", "--show", place[0].name]) == 0
    assert f"+++ {place[0].file}" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["operators", "--run", "nobody"])
