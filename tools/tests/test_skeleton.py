"""Stages as exercises: which code is removed, what is unchanged, and which tests are marked."""

import ast
import inspect
import json
import os
import pydoc
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from griffe import Class, Module, Object
from hypothesis import given
from hypothesis import strategies as st

import task_marks
from mt.__main__ import main
from mt.errors import ToolError
from mt.skeleton.blanking import blanked, restored
from mt.skeleton.course import Task, TaskError, awaited, check, places, read_tasks, tasks_of
from mt.skeleton.folder import Skeleton, existing, make
from mt.skeleton.patterns import shortened, written
from mt.skeleton.proof import mark, prove
from mt.skeleton.solving import solve
from mt.source.symbols import file_of, find, load, node_of, parse
from mt.tables import TableError
from mt.workspace import ROOT, Stage, Workspace

WORKSPACE = Workspace.read()
MODULES = load(*WORKSPACE.sources)
TASKS = read_tasks()
STAGES = [WORKSPACE[name] for name in dict.fromkeys(task.stage for task in TASKS.values())]

each_stage = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.short)


# --- The tasks ------------------------------------------------------------------------------------


def test_every_name_in_the_tasks_is_defined_in_the_stage() -> None:
    check(TASKS, MODULES)


def test_tasks_are_ordered_by_number_and_await_the_last_task_with_functions() -> None:
    names = list(TASKS)
    assert names == sorted(names, key=lambda name: [int(part) for part in name.split("_")])
    tasks = tasks_of(TASKS, "operators")
    assert [awaited(task, tasks).name for task in tasks] == ["0_1", "0_1", "0_3", "0_4", "0_5"]


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.name)
def test_every_task_has_instructions_few_functions_and_tests_to_start_with(task: Task) -> None:
    assert len(task.text.splitlines()) >= 5
    assert len(task.functions) <= 8
    folder = WORKSPACE[task.stage].folder
    assert task.start
    for file in task.start:
        assert (folder / file).is_file()
        marks = task_marks.read(folder / "tests" / task_marks.NAME)
        assert Path(file).name in marks[task.mark]


def test_functions_of_task_1_2_contain_no_argument_checks() -> None:
    for name in TASKS["1_2"].functions:
        found: Any = pydoc.locate(name)
        function: Any = found.fget if isinstance(found, property) else found
        text = inspect.getsource(function)
        assert not re.search(r"operator\.(result|arity)|\braise\b|isinstance", text), name


def task_file(folder: Path, name: str = "2_3", **changes: Any) -> None:
    settings: dict[str, Any] = {
        "stage": "operators",
        "title": "A title",
        "start": [],
        "functions": ["mt_operators.operators.map"],
        "text": "What to do.",
    }
    settings |= changes
    lines = [
        f"{key} = {json.dumps(value, separators=(', ', ' = '))}"
        for key, value in settings.items()
        if value is not None
    ]
    (folder / f"{name}.toml").write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "two"}, r"two\.toml: the name must be the number of a task"),
        ({"title": None}, r"2_3\.toml: 'title' is missing"),
        ({"stage": 2}, r"2_3\.toml: 'stage' must be of type str; 2 was given"),
        ({"start": [1]}, r"'start' must contain values of type str; \[1\] was given"),
        ({"hint": "none"}, "'hint' is unknown; the known keys are stage, title"),
        ({"functions": []}, r"a task needs either functions or a table \[tests\]"),
        ({"functions": [], "tests": 3}, "'tests' must be of type dict"),
        ({"functions": [], "tests": {"a": 3}}, "'tests': patterns must be a table or \"all\""),
        (
            {"functions": [], "tests": {"a": "all"}},
            "neither this task nor any before it has functions",
        ),
        ({"functions": ["mt_operators.operators.mop"]}, r"2_3\.toml:4: .*'mop'. Did you mean map"),
        (
            {"functions": ["mt_operators.operators"]},
            "is not a function; name functions, methods or rows",
        ),
        (
            {"functions": ["mt_operators.operators.mul"]},
            "is not a function; name functions, methods",
        ),
        (
            {"functions": ["mt_autodiff.core.numeric.central_difference"]},
            "belongs to mt_autodiff, not",
        ),
        (
            {"functions": ["mt_operators.core.table[no_such]"]},
            "no statement of mt_operators.core.table .* defines",
        ),
    ],
)
def test_invalid_task_file_raises_table_error(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    task_file(tmp_path, **changes)
    with pytest.raises(TableError, match=message):
        check(read_tasks(tmp_path), MODULES)


def test_function_in_two_tasks_raises_table_error(tmp_path: Path) -> None:
    task_file(tmp_path, "0_1")
    task_file(tmp_path, "0_2")
    with pytest.raises(TableError, match=r"0_2\.toml: .*operators.map is already in 0_1"):
        check(read_tasks(tmp_path), MODULES)


def test_selecting_a_task_of_another_stage_raises_task_error() -> None:
    assert tasks_of(TASKS, "nowhere") == []
    with pytest.raises(TaskError, match="no task '0_1'; its tasks are none"):
        tasks_of(TASKS, "nowhere", ["0_1"])
    with pytest.raises(TaskError, match="no task '1_1'; its tasks are 0_1, 0_2"):
        tasks_of(TASKS, "operators", ["1_1"])


# --- Blanking and restoring ----------------------------------------------------------------------

TASK = TASKS["0_1"]


def module_of(text: str) -> Module:
    return parse("m", Path("m.py"), text)


def functions_of(owner: Object) -> list[Object]:
    """Return the functions of a module and the methods of its classes."""
    found: list[Object] = []
    for member in owner.members.values():
        if isinstance(member, Class):
            found += functions_of(member)
        elif isinstance(member, Object) and isinstance(node_of(member), ast.FunctionDef):
            found.append(member)
    return sorted(found, key=lambda symbol: symbol.lineno or 0)


def everything_else(text: str) -> str:
    """Return the code outside of functions, and the documentation of functions."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = [ast.Expr(ast.Constant(ast.get_docstring(node, clean=False)))]
    return ast.dump(tree)


@pytest.mark.parametrize("stage", WORKSPACE.stages.values(), ids=lambda stage: stage.short)
def test_any_function_can_be_blanked_and_restored(stage: Stage) -> None:
    for file in sorted(stage.source.rglob("*.py")):
        original = file.read_text(encoding="utf-8")
        symbols = functions_of(module_of(original))
        text = blanked(original, [(symbol, TASK) for symbol in symbols])
        assert everything_else(text) == everything_else(original)
        left_out = functions_of(module_of(text))
        for symbol in left_out:
            *docstring, last = node_of(symbol).body
            assert isinstance(last, ast.Raise)
            assert len(docstring) <= 1
        pairs = list(zip(left_out, symbols, strict=True))
        assert restored(text, pairs) == original
        for begin in range(2):  # restore one half, then the other
            half = restored(text, pairs[begin::2])
            again = functions_of(module_of(half))
            others = list(zip(again, symbols, strict=True))[1 - begin :: 2]
            assert restored(half, others) == original


FUNCTION = """\
import math


@cached
def area(
    radius: float,  # of the circle: in metres
    scale: dict[str, int] = {"m": 1},
) -> float:
    # pi r^2
    return math.pi * radius**2  # not 2 pi r


LIMIT = 3
"""

WITHOUT_BODY = """\
import math


@cached
def area(
    radius: float,  # of the circle: in metres
    scale: dict[str, int] = {"m": 1},
) -> float:
    # Task 0.1: Operators and their derivatives.
    # See TASKS.md for instructions and the tests of this task.
    raise NotImplementedError("Task 0.1: area is not implemented.")


LIMIT = 3
"""

ROWS = """\
from table import (
    define,
)

define(
    "π",
    lambda x: x * x,
    lambda x, out: (
        2.0 * x  # é
    ),
    note="x: y",
)
define("next", lambda x: x + 1.0, one)
"""

WITHOUT_LAMBDAS = """\
from table import (
    define,
)


def not_implemented(task: str) -> float:
    \"""Raise an error in place of the lambdas of a row.\"""
    raise NotImplementedError(task)

define(
    "π",
    lambda x: not_implemented("Task 0.1: π is not implemented."),
    lambda x, out: (
        not_implemented("Task 0.1: π is not implemented.")  # é
    ),
    note="x: y",
)
define("next", lambda x: x + 1.0, one)
"""


def test_blanked_function_keeps_everything_except_its_body() -> None:
    module = module_of(FUNCTION)
    assert blanked(FUNCTION, [(functions_of(module)[0], TASK)]) == WITHOUT_BODY


def test_blanked_function_lists_its_errors_in_comments() -> None:
    text = """\
def first(values: list[int]) -> int:
    if not values:
        raise ValueError(
            f"nothing is first of {values}: "
            "give something."
        )
    for value in values:
        if value < 0:
            raise KeyError("negative") from None
        if value > 9:
            raise KeyError("negative")
    raise
"""
    lines = blanked(text, [(functions_of(module_of(text))[0], TASK)]).splitlines()
    assert lines[3:-1] == [
        "    # Tests check the messages of its errors:",
        "    #     ValueError(",
        '    #         f"nothing is first of {values}: "',
        '    #         "give something."',
        "    #     )",
        '    #     KeyError("negative")',
    ]


def test_blanked_row_keeps_everything_except_its_lambdas() -> None:
    row = find(module_of(ROWS), "[π]")
    text = blanked(ROWS, [(row, TASK)])
    assert text == WITHOUT_LAMBDAS
    assert restored(text, [(find(module_of(text), "[π]"), row)]) == ROWS


def test_blanking_a_row_without_a_lambda_raises_tool_error() -> None:
    text = 'define("exp", exp, one)'
    row = find(module_of(text), "[exp]")
    with pytest.raises(ToolError, match=r"m\[exp\] \(0_1.toml\) has no lambda"):
        blanked(text, [(row, TASK)])


# --- Patterns -------------------------------------------------------------------------------------

NAMES = st.builds(
    lambda file, test: f"test_{file}.py::test_{test}",
    st.sampled_from("ab"),
    st.sampled_from(["plain", "class::test"])
    | st.builds(
        lambda name, parts: f"{name}[{'-'.join(parts)}]",
        st.sampled_from("gh"),
        st.lists(
            st.sampled_from(["", "1", "-1", ".", "*", "f(x, -1)", "tanh", "]", "[*]", '"', "é"]),
            min_size=1,
            max_size=4,
        ),
    ),
)
MARKED = st.dictionaries(NAMES, st.sampled_from(["task0_1", "task0_2", None]), max_size=20)


@given(MARKED)
def test_patterns_match_exactly_the_marked_tests(tests: dict[str, str | None]) -> None:
    marks = {test: each for test, each in tests.items() if each is not None}
    patterns = tomllib.loads(written(shortened(marks, tests), "tensor"))
    for test, each in tests.items():
        assert task_marks.marks_of(patterns, test) == ([each] if each else [])


def test_patterns_use_stars_and_all_to_be_short() -> None:
    backends, operators = ("simple", "numpy"), [f"operator{number}" for number in range(20)]
    tests = [f"a.py::t[{o}-{b}]" for o in operators for b in backends]
    tests += ["a.py::u[1]", "a.py::u[2]", "a.py::v", "b.py::w"]
    marks = {test: "task2_3" for test in tests if "numpy" not in test and not test.endswith("v")}
    assert shortened(marks, tests) == {
        "task2_3": {"a.py": {"t": ["*-simple"], "u": "all"}, "b.py": "all"}
    }


def test_star_in_a_parameter_is_escaped_in_patterns() -> None:
    tests = ["a.py::t[.*]", "a.py::t[x]", "a.py::t[.x]"]
    assert shortened({tests[1]: "task2_3"}, tests) == {"task2_3": {"a.py": {"t": ["x"]}}}
    assert shortened({tests[0]: "task2_3"}, tests) == {"task2_3": {"a.py": {"t": [".[*]"]}}}


def test_patterns_do_not_split_words_or_numbers() -> None:
    tests = [
        f"a.py::t[{name}-x.{name}({dim})-{k}]"
        for name in ("sum", "mean")
        for dim in (0, -1)
        for k in "ab"
    ]
    tests += ["a.py::u[f(-1)]", "a.py::u[f(1)]", "a.py::u[g(-1)]"]
    marks = dict.fromkeys([*tests[:4], *tests[-3:-1]], "task2_3")
    assert shortened(marks, tests) == {"task2_3": {"a.py": {"t": ["sum-*"], "u": ["f(*"]}}}
    marks = dict.fromkeys([tests[2], tests[3]], "task2_3")
    assert shortened(marks, tests) == {"task2_3": {"a.py": {"t": ["*-x.sum(-1)-*"]}}}


# --- A whole stage --------------------------------------------------------------------------------


@each_stage
def test_student_folder_has_the_blanked_package_and_solving_restores_it(
    stage: Stage, tmp_path: Path
) -> None:
    tasks = tasks_of(TASKS, stage.short)
    skeleton = make(WORKSPACE, stage, tmp_path / "out", tasks, tasks)
    changed = {file for file in skeleton.changed() if file.suffix == ".py"}
    assert changed == {
        file_of(symbol).relative_to(stage.folder)
        for task in tasks
        for symbol in places(task, MODULES)
    }
    text = (tmp_path / "out" / "TASKS.md").read_text(encoding="utf-8")
    for task in tasks:
        assert f"## Task {task.number}: {task.title}\n\n{task.text}\n" in text
        assert f"    pytest -m {task.mark}\n" in text
    before = files_of(skeleton.folder)
    for task in tasks:
        assert solve(skeleton, [task]) == {}
    assert skeleton.changed() == []
    assert files_of(skeleton.folder).keys() == before.keys()


@each_stage
def test_mark_file_of_a_stage_lists_its_tasks_and_existing_tests(stage: Stage) -> None:
    marks = task_marks.read(stage.folder / "tests" / task_marks.NAME)
    assert list(marks) == [task.mark for task in tasks_of(TASKS, stage.short)]
    for files in marks.values():
        assert all((stage.folder / "tests" / file).is_file() for file in files)


def test_solving_one_task_keeps_the_work_on_others(tmp_path: Path) -> None:
    stage, tasks = WORKSPACE["operators"], tasks_of(TASKS, "operators")
    out = tmp_path / "a" / "b"
    skeleton = make(WORKSPACE, stage, out, tasks, [TASKS["0_3"], TASKS["0_1"]])
    assert "Task 0.4" not in (out / "TASKS.md").read_text(encoding="utf-8")
    file = skeleton.source / "operators.py"
    mine = file.read_text().replace("def prod(", "# mine\ndef prod(")
    file.write_text(mine)
    solve(existing(WORKSPACE, stage, out), [TASKS["0_1"]])
    assert skeleton.changed() == [Path("src/mt_operators/operators.py")]
    assert "# mine" in file.read_text()
    assert "Task 0.3" in file.read_text()


def files_of(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@each_stage
def test_code_replaced_by_a_solution_is_saved_in_a_backup(stage: Stage, tmp_path: Path) -> None:
    tasks = tasks_of(TASKS, stage.short)
    skeleton = make(WORKSPACE, stage, tmp_path / "out", tasks, tasks)
    left_out = {
        skeleton.folder / file: (skeleton.folder / file).read_text(encoding="utf-8")
        for file in skeleton.changed()
        if file.suffix == ".py"
    }
    for times in (1, 2, 3):
        for file, text in left_out.items():
            mine = text.replace("Error(", f"Error({times}, ").replace(
                ": not_implemented", f": {times}.0 *"
            )
            file.write_text(mine, encoding="utf-8")
        before = files_of(skeleton.folder)
        kept = solve(skeleton, tasks)
        assert kept == {file: file.with_name(f"{file.name}.bak{times}") for file in left_out}
        after = files_of(skeleton.folder)
        assert {file: after[copy] for file, copy in kept.items()} == {
            file: before[file] for file in left_out
        }
        assert after.keys() == before.keys() | set(kept.values())
        assert all(after[file] == before[file] for file in before.keys() - left_out.keys())
        assert solve(skeleton, tasks) == {}


MINE = "def prod(numbers: Iterable[float]) -> float:\n    return 42.0\n"


def folder_with_own_solution(out: Path) -> tuple[Skeleton, Path]:
    """Return a student's folder in which one function is implemented, and the file of it."""
    tasks = tasks_of(TASKS, "operators")
    skeleton = make(WORKSPACE, WORKSPACE["operators"], out, tasks, [TASKS["0_3"]])
    file = skeleton.source / "operators.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text[: text.index("def prod(")] + MINE, encoding="utf-8")
    return skeleton, file


def test_solve_option_prints_a_command_that_restores_overwritten_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "my exercises"
    _, file = folder_with_own_solution(out)
    mine = file.read_bytes()
    assert main(["skeleton", "operators", str(out), "--solve", "0_3"]) == 0
    solved, kept, back = capsys.readouterr().out.splitlines()
    assert solved == f"Task 0.3 is solved in {out}."
    assert kept == "Your version is saved in a copy; to restore it:"
    assert "return 42.0" not in file.read_text(encoding="utf-8")
    assert main(["skeleton", "operators", str(out), "--solve", "0_3"]) == 0
    assert capsys.readouterr().out.splitlines() == [solved]
    subprocess.run(shlex.split(back), check=True)
    assert file.read_bytes() == mine


def test_solving_keeps_line_endings_and_permissions(tmp_path: Path) -> None:
    skeleton, file = folder_with_own_solution(tmp_path / "out")
    mine = file.read_bytes().replace(b"\n", b"\r\n")
    file.write_bytes(mine)
    file.chmod(0o640)
    solve(skeleton, [TASKS["0_3"]])
    package = skeleton.stage.source / file.name
    assert file.read_bytes().replace(b"\r\n", b"\n") == package.read_bytes()
    assert file.read_bytes().count(b"\r\n") == package.read_bytes().count(b"\n")
    assert file.with_name("operators.py.bak1").read_bytes() == mine
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("def prod(", "def product("), "has no 'prod'. Did you mean "),
        (
            lambda text: f"{text}def more(:\n",
            r"operators.py is not readable as Python: invalid syntax \(.*, line \d+\)",
        ),
        (
            lambda text: f"{text}NAME = 'é'\n".encode("latin-1"),
            "operators.py is not readable as Python: 'utf-8' codec",
        ),
        (
            lambda text: text.replace(
                MINE, "from mt_operators.functions.special import erf as prod\n"
            ),
            r"'prod' is not defined in .*operators.py, .*imported: .*functions.special.erf",
        ),
        (
            lambda text: f"{text}prod = max\n",
            r"operators.prod is no longer a function \(.*\d",
        ),
        (lambda text: text + MINE, r"operators.prod is defined 2 times in .*operators.py"),
        (
            lambda text: text.replace("Callable", "Function"),
            r"operators.py has no 'Callable', which the solution of .*operators.map uses",
        ),
    ],
    ids=["renamed", "syntax", "encoding", "moved", "value", "twice", "import"],
)
def test_solving_a_missing_or_invalid_function_raises_and_changes_nothing(
    change: Callable[[str], str | bytes], message: str, tmp_path: Path
) -> None:
    skeleton, file = folder_with_own_solution(tmp_path / "out")
    changed = change(file.read_text(encoding="utf-8"))
    file.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    before = files_of(skeleton.folder)
    with pytest.raises(ToolError, match=f"{message}.* Nothing was changed"):
        solve(skeleton, [TASKS["0_4"], TASKS["0_3"]])
    assert files_of(skeleton.folder) == before


def test_unusable_folder_exits_with_status_1_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    inside = WORKSPACE["operators"].folder / "exercises"
    for arguments, message in (
        ([str(tmp_path)], "is not empty, and nothing is overwritten"),
        ([str(tmp_path / "mine.txt")], "is not empty, and nothing is overwritten"),
        ([str(inside)], "is inside the package to copy"),
        ([str(tmp_path), "--solve", "0_1"], "contains no exercises of the stage 'operators'"),
        ([str(tmp_path / "new"), "--task", "9_9"], "has no task '9_9'; its tasks are 0_1"),
    ):
        with pytest.raises(SystemExit, match="1"):
            main(["skeleton", "operators", *arguments])
        assert message in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
    assert not inside.exists()


def test_command_lists_tasks_writes_a_folder_and_solves_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["skeleton", "operators"]) == 0
    assert capsys.readouterr().out.splitlines()[2] == "0_3  Functions of functions"
    out = tmp_path / "out"
    assert main(["skeleton", "operators", str(out), "--task", "0_3"]) == 0
    file = out / "src" / "mt_operators" / "operators.py"
    assert file.read_text().count("NotImplementedError") == 7
    capsys.readouterr()
    assert main(["skeleton", "operators", str(out), "--solve", "0.3", "--solve", "0_2"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["Task 0.2 has no functions.", f"Task 0.3 is solved in {out}."]
    assert "NotImplementedError" not in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "0_3"], "--task and --solve need a folder"),
        (["--solve", "0_3"], "--task and --solve need a folder"),
        (["somewhere", "--mark"], "--mark and --prove create their own folder"),
        (["somewhere", "--prove"], "--mark and --prove create their own folder"),
    ],
)
def test_missing_or_superfluous_folder_is_a_usage_error(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["skeleton", "operators", *arguments])
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["0_3", "0.3", "task0_3"])
def test_task_is_selected_by_number_or_mark(name: str, tmp_path: Path) -> None:
    assert main(["skeleton", "operators", str(tmp_path / "out"), "--task", name]) == 0
    assert "## Task 0.3" in (tmp_path / "out" / "TASKS.md").read_text(encoding="utf-8")


# --- Marks of tests -------------------------------------------------------------------------------

SOURCE = """\
def one():
    return 1


def two():
    return one() + 1
"""

TESTS = """\
import pytest

from mt_count import one, two


@pytest.mark.parametrize(("function", "number"), [(one, 1), (two, 2)], ids=["one", "two"])
def test_numbers(function, number):
    assert function() == number


def test_law():
    assert one() == 1


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.skip)])
def test_again(times):
    assert one() * times == times


def test_optional_library():
    assert one() == 1
    pytest.importorskip("mt_missing")


def test_nothing():
    pass


@pytest.mark.skip
def test_skipped():
    assert two() == 2
"""

MARKS = """\
# The task that each test depends on: `pytest -m task0_1` runs the tests of one task.
# Generated by `hatch run mt skeleton count --mark`.

[task0_1]
"test_one.py" = "all"

[task0_1."test_numbers.py"]
test_numbers = ["one"]
test_again = "all"

[task0_2."test_numbers.py"]
test_law = "all"

[task0_3."test_numbers.py"]
test_numbers = ["two"]
test_skipped = "all"
"""


class Counting:
    """A workspace of one stage with tasks."""

    def __init__(self, root: Path) -> None:
        folder = root / "packages" / "mt-count"
        self.tests = folder / "tests"
        for name, text in {
            "pyproject.toml": '[project]\nname = "mt-count"\n',
            "src/mt_count/__init__.py": SOURCE,
            "tests/test_numbers.py": TESTS,
            "tests/test_one.py": "from mt_count import one\n\n\ndef test_it():\n    one()\n",
            "tests/tasks.toml": '[task0_3."test_numbers.py"]\ntest_skipped = "all"\n',
        }.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        task_file(root, "0_1", stage="count", functions=["mt_count.one"])
        task_file(root, "0_2", stage="count", functions=[])
        with (root / "0_2.toml").open("a") as file:
            file.write('\n[tests."test_numbers.py"]\ntest_law = "all"\ntest_numbers = ["two"]\n')
        task_file(root, "0_3", stage="count", functions=["mt_count.two"])
        self.workspace = Workspace.read(root)
        self.stage = self.workspace["count"]
        self.tasks = tasks_of(read_tasks(root), "count")

    def mark(self) -> int:
        return mark(self.workspace, self.stage, self.tasks, "0")

    def prove(self, at_once: bool = False) -> int:
        return prove(self.workspace, self.stage, self.tasks, "0", at_once=at_once)


def test_mark_assigns_tests_to_tasks_and_prove_confirms_the_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = Counting(tmp_path)
    assert count.mark() == 0
    assert (count.tests / "tasks.toml").read_text() == MARKS
    assert "marks 6 of 9 tests" in capsys.readouterr().out
    assert count.prove() == 0
    printed = capsys.readouterr().out
    assert "with nothing solved: 1 passed, 6 failed, 2 skipped" in printed
    assert "with task 0.1 solved: 4 passed, 1 failed, 1 skipped" in printed
    assert printed.endswith("mt-count: 5 tests depend on 3 tasks, as marked.\n")


def test_prove_at_once_reports_only_tests_without_a_mark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = Counting(tmp_path)
    marks = """
        [task0_3]
        "test_one.py" = "all"

        [task0_3."test_numbers.py"]
        test_numbers = ["one", "two"]
        test_again = "all"
        test_law = "all"
        """
    (count.tests / "tasks.toml").write_text(marks)
    assert count.prove(at_once=True) == 0
    assert "with every task solved: 5 passed, 0 failed, 1 skipped" in capsys.readouterr().out
    (count.tests / "tasks.toml").write_text(marks.replace('test_again = "all"', ""))
    assert count.prove(at_once=True) == 1
    assert (
        "test_again[1]: depends on task 0.1 or task 0.2 or task 0.3, but is marked with no task."
        in capsys.readouterr().out
    )


def test_prove_reports_wrong_missing_and_unknown_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = Counting(tmp_path)
    (count.tests / "tasks.toml").write_text(
        """
        [task0_1."test_numbers.py"]
        test_numbers = ["*"]
        test_again = "all"
        test_nothing = "all"
        test_gone = "all"

        [task0_2."test_numbers.py"]
        test_law = "all"
        test_skipped = "all"
        """
    )
    (count.tests / "test_wrong.py").write_text("def test_it():\n    assert 1 == 2\n")
    assert count.prove() == 1
    _, _, report = capsys.readouterr().out.partition("again, to show failures")
    assert report.splitlines()[1:] == [
        "tests/test_wrong.py::test_it: fails with everything solved.",
        "tests/test_numbers.py::test_numbers[two]: depends on task 0.3, but is marked with "
        "task 0.1.",
        "tests/test_numbers.py::test_nothing: depends on no task, but is marked with task 0.1.",
        "tests/test_one.py::test_it: depends on task 0.1, but is marked with no task.",
        "tests/tasks.toml: [task0_1] test_numbers.py::test_gone: the test does not exist.",
        "To fix the marks: hatch run mt skeleton count --mark",
    ]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "test_early.py",
            "from mt_count import two\n\nTWO = two()\n",
            "tests cannot be collected, .*test_early.py: .*Task 0.3: two is not implemented",
        ),
        ("tasks.toml", '[task9_9]\n"test_one.py" = "all"', "no task for the mark 'task9_9'"),
        (
            "tasks.toml",
            '[task0_1]\n"test_one.py" = "all"\n[task0_3]\n"test_one.py" = "all"',
            "test_one.py::test_it has the marks task0_1 and task0_3",
        ),
    ],
    ids=["early", "unknown", "two"],
)
def test_prove_raises_for_uncollectable_tests_and_invalid_marks(
    tmp_path: Path, file: str, text: str, message: str
) -> None:
    count = Counting(tmp_path)
    (count.tests / file).write_text(text)
    with pytest.raises(ToolError, match=f"(?s){message}"):
        count.prove()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[task0_1", "Expected ']'"),
        ("task0_1 = 3", 'patterns must be a table or "all", not 3'),
        ("[task0_1]\na = 3", 'patterns must be a table or "all", not 3'),
        ("[task0_1.a]\nb = 3", 'a: b must be "all" or a list of parameters, not 3'),
        ("[task0_1.a]\nb = [3]", r"not \[3\]"),
    ],
)
def test_invalid_mark_file_is_a_usage_error(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "tasks.toml"
    file.write_text(text)
    with pytest.raises(pytest.UsageError, match=f"tasks.toml: .*{message}"):
        task_marks.read(file)


def test_task_marks_are_registered_with_pytest(pytestconfig: pytest.Config) -> None:
    marks = [line for line in pytestconfig.getini("markers") if line.startswith("task")]
    assert marks == [f"{task.mark}: {task.title}" for task in TASKS.values()]


def test_pytest_selects_tests_by_task_mark() -> None:
    file = WORKSPACE["operators"].folder / "tests" / "test_course.py"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q"]
    done = subprocess.run(
        [*command, "-m", "task0_3", file], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = {line.rpartition("::")[2] for line in done.stdout.splitlines() if "::" in line}
    assert "test_reduce_combines_from_left_to_right" in names
    assert "test_scalar_operators_match_python" not in names


def test_pytest_in_student_folder_fails_if_another_copy_is_imported(tmp_path: Path) -> None:
    count = Counting(tmp_path)
    make(count.workspace, count.stage, tmp_path / "out", count.tasks, count.tasks)
    path = os.pathsep.join([str(count.stage.folder / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=tmp_path / "out",
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"mt_count is imported from {count.stage.folder}" in done.stderr
    assert f"pip install --no-deps -e {tmp_path / 'out'}" in done.stderr
