"""Cells of the site: their output, and the tests of answers to tasks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mt.docs import checking, running
from mt.docs.running import Output, run_cell, run_page
from mt.skeleton.blanking import hole
from mt.skeleton.course import places, read_tasks, tasks_of
from mt.skeleton.folder import make
from mt.source.symbols import file_of, load
from mt.workspace import ROOT, Workspace


def test_cell_shows_printed_text_and_its_last_value() -> None:
    assert run_cell("x = 2\nprint('a')\nprint('b')\nx + 1", {}) == Output("a\nb\n", "<pre>3</pre>")


def test_cell_without_a_last_value_shows_nothing() -> None:
    assert run_cell("x = 1", {}) == Output("")
    assert run_cell("None", {}) == Output("")
    assert run_cell("", {}) == Output("")


def test_shown_value_is_escaped_for_html() -> None:
    assert run_cell("'<b>'", {}).html == "<pre>&#x27;&lt;b&gt;&#x27;</pre>"


@pytest.mark.parametrize("method", ["_repr_html_", "_repr_svg_"])
def test_value_with_an_html_or_svg_method_is_shown_as_drawn(method: str) -> None:
    source = f"class Drawn:\n    def {method}(self):\n        return '<i>drawn</i>'\nDrawn()"
    assert run_cell(source, {}).html == "<i>drawn</i>"
    assert "class" in run_cell(source.replace("\nDrawn()", "\nDrawn"), {}).html


def test_cells_of_a_page_share_variables() -> None:
    first, second = run_page([("one", "x = 1"), ("two", "x + 1")])
    assert first == Output("")
    assert second.html == "<pre>2</pre>"


def test_traceback_contains_only_lines_of_cells() -> None:
    namespace: dict[str, object] = {}
    run_cell("def half(x):\n    return 1 // x", namespace, "cell 1")
    shown = run_cell("print('so far')\nhalf(0)", namespace, "cell 2")
    assert shown.printed == "so far\n"
    assert shown.error == "ZeroDivisionError"
    assert shown.trace.splitlines() == [
        "line 2: half(0)",
        "a cell above, line 2: return 1 // x",
        "ZeroDivisionError: integer division or modulo by zero",
    ]


def test_traceback_of_endless_recursion_is_shortened() -> None:
    shown = run_cell("def f():\n    return f()\nf()", {}, "cell 1")
    assert shown.error == "RecursionError"
    assert len(shown.trace.splitlines()) == 8
    assert "more lines ..." in shown.trace


def test_syntax_error_is_shown() -> None:
    shown = run_cell("x = (", {})
    assert shown.error == "SyntaxError"
    assert "'(' was never closed" in shown.trace


def test_listener_receives_printed_text_immediately() -> None:
    pieces: list[str] = []
    run_cell("print('a', end='')\nprint('b', end='')", {}, listener=pieces.append)
    assert "".join(pieces) == "ab"


def test_page_runs_in_a_separate_process_without_mt() -> None:
    cells = json.dumps([["cell 1", "import sys\nprint(len(sys.argv))\n'mt' in sys.modules"]])
    command = [sys.executable, running.__file__]
    done = subprocess.run(command, input=cells, capture_output=True, text=True, check=True)
    (output,) = json.loads(done.stdout)
    assert output["printed"] == "1\n"
    assert output["html"] == "<pre>False</pre>"


def student(folder: Path, name: str) -> list[tuple[str, str, str]]:
    """Create the folder of a task, and return the answers that solve it."""
    workspace, tasks = Workspace.read(), read_tasks()
    task = tasks[name]
    stage = workspace[task.stage]
    make(workspace, stage, folder, tasks_of(tasks, task.stage), [task])
    return [
        (file_of(symbol).relative_to(stage.folder).as_posix(), hole(symbol, task), symbol.source)
        for symbol in places(task, load(*workspace.sources))
    ]


def checked(folder: Path, mark: str) -> tuple[bool, str]:
    """Test a student's folder in a new process, as a browser does in a new worker."""
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
        "import json\nfrom mt.docs.checking import check\n"
        f"print(json.dumps(check({str(folder)!r}, {mark!r}, '')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    passed, text = json.loads(done.stdout.splitlines()[-1])
    return passed, text


def test_solution_passes_and_empty_or_wrong_answer_fails(tmp_path: Path) -> None:
    folder = tmp_path / "student"
    ((file, gap, solution),) = student(folder, "1_1")
    passed, text = checked(folder, "task1_1")
    assert not passed
    assert "1.1  to do" in text

    wrong = solution.replace("vals[arg] - epsilon", "vals[arg]")
    checking.fill(folder, [(file, gap, wrong)])
    passed, text = checked(folder, "task1_1")
    assert not passed
    assert "fail" in text

    checking.fill(folder, [(file, wrong + "\n", solution)])
    passed, text = checked(folder, "task1_1")
    assert passed, text
    assert "1.1  done" in text


def test_filling_in_all_solutions_restores_the_package_source(tmp_path: Path) -> None:
    folder = tmp_path / "student"
    answers = student(folder, "1_4")
    checking.fill(folder, answers)
    package = Workspace.read()["autodiff"].folder
    for file, _, _ in answers:
        assert (folder / file).read_text() == (package / file).read_text()


def test_answer_for_a_missing_function_raises_value_error(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with pytest.raises(ValueError, match="a.py does not contain the function"):
        checking.fill(tmp_path, [("a.py", "def f():\n", "def f(): pass\n")])
