"""The directive `task`: a task of the course, which the reader solves and tests in the browser.

    ```{task} 1_1
    ```

It shows the instructions, an editor for each function to write, and the solution, folded. The
button *Check* puts what the reader has written into a student's folder (see `mt.skeleton`), and
runs the tests of this task there with pytest. Where Python does not run in the browser, the
functions are listed instead.

Options:
    skip: an expression of pytest's `-k`: tests that a browser cannot run.
"""

from __future__ import annotations

import html
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from mt.docs.source import modules
from mt.skeleton.blanking import hole
from mt.skeleton.course import places, read_tasks, tasks_of
from mt.skeleton.folder import make
from mt.source.symbols import file_of, find
from mt.workspace import Workspace

TESTING = [
    "_hypothesis_globals",
    "_pytest",
    "attr",
    "attrs",
    "hypothesis",
    "iniconfig",
    "mpmath",
    "packaging",
    "pluggy",
    "py",
    "pygments",
    "pytest",
    "sortedcontainers",
]
"""The modules that the tests import; all are written in Python."""


class TaskNode(nodes.container):
    """A task: its instructions, and the functions to write."""


class TaskDirective(SphinxDirective):
    """Show a task."""

    required_arguments = 1
    option_spec: ClassVar = {"skip": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the instructions, followed by the functions and their solution."""
        name = self.arguments[0]
        tasks = read_tasks()
        if name not in tasks:
            raise self.error(f"there is no task {name}; the tasks are {', '.join(tasks)}.")
        task = tasks[name]
        node = TaskNode("", classes=["task"], task=name, skip=self.options.get("skip", ""))
        title = f"Task {task.number}: {task.title}"
        node += nodes.rubric(title, title, ids=[f"task-{name.replace('_', '-')}"])
        node += self.parse_text_to_nodes(task.text)
        for function in task.functions:
            self.env.note_dependency(str(file_of(find(modules(), function))))
        return [node]


def visit_task(self: Any, _node: TaskNode) -> None:
    """Open the task."""
    self.body.append('<section class="task">')


def depart_task(self: Any, node: TaskNode) -> None:
    """Write the functions and the solution, and close the task."""
    task = read_tasks()[node["task"]]
    data = {"mark": task.mark, "stage": task.stage, "name": task.name, "skip": node["skip"]}
    self.body.append(f'<div class="task-functions" data-task="{html.escape(json.dumps(data))}">')
    found = places(task, modules())
    folder = Workspace.read()[task.stage].folder
    for symbol in found:
        file = file_of(symbol).relative_to(folder).as_posix()
        gap = hole(symbol, task)
        self.body.append(
            f'<div class="task-function" data-file="{file}" data-hole="{html.escape(gap)}">'
        )
        self.body.append(self.highlighter.highlight_block(dedent(gap), "python", location=node))
        self.body.append("</div>")
    self.body.append("</div>")
    if found:
        self.body.append("<details><summary>A solution</summary>")
        for symbol in found:
            text = self.highlighter.highlight_block(symbol.source, "python", location=node)
            self.body.append(text)
        self.body.append("</details>")
    self.body.append("</section>\n")


def write_archives(target: Path, stages: Iterable[str]) -> None:
    """Write an archive of the student's folder of each task of some stages, and one of pytest."""
    with zipfile.ZipFile(target / "testing.zip", "w", zipfile.ZIP_DEFLATED) as out:
        for module in TESTING:
            _add_module(out, module)
    workspace, tasks = Workspace.read(), read_tasks()
    for stage in stages:
        for task in tasks_of(tasks, stage):
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch) / "student"
                make(workspace, workspace[stage], folder, tasks_of(tasks, stage), [task])
                for file in folder.glob("docs/*"):
                    if file.suffix == ".png":  # large, and read by no test
                        file.unlink()
                shutil.make_archive(str(target / f"task{task.name}"), "zip", folder)


def _add_module(out: zipfile.ZipFile, name: str) -> None:
    """Add a module or package to an archive.

    Raises:
        FileNotFoundError: it is not installed.
    """
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{name}, which the tests of tasks import, is not installed")
    origin = Path(spec.origin)
    if origin.name != "__init__.py":
        out.write(origin, origin.name)
        return
    for file in sorted(origin.parent.rglob("*.py")):
        out.write(file, file.relative_to(origin.parents[1]))
