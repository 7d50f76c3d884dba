"""The directive `cell`: code that runs when the site is built, and again in the reader's browser.

    ```{cell}
    x = Scalar(2.0)
    (x * x).backward()
    x.derivative
    ```

The cells of a page share one namespace. After a page is read, all of them run in one new process
(see `running.py`), and their output is kept in the page, so that it can be read without scripts. An
exception fails the build, unless the option `raises` names its type.

Options:
    raises: the type of the exception that the cell shows.
    hidden: the cell runs, but is not shown: imports and settings that the text need not explain.
    static: the cell cannot be changed by readers: its packages do not run in a browser.
"""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from mt.docs.running import Output
from mt.workspace import ROOT

RUNNING = Path(__file__).with_name("running.py")


class CellNode(nodes.container):
    """A cell: the listing of its code, and after the page has run, its output."""


class CellDirective(SphinxDirective):
    """Run code, and show it with its output."""

    has_content = True
    option_spec: ClassVar = {
        "raises": directives.unchanged_required,
        "hidden": directives.flag,
        "static": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return a cell without output."""
        source = "\n".join(self.content)
        cell = CellNode("", source=source, classes=["cell"])
        cell["raises"] = self.options.get("raises", "")
        cell["hidden"] = "hidden" in self.options
        cell["static"] = "static" in self.options
        cell["line"] = self.lineno
        cell += nodes.literal_block(source, source, language="python")
        return [cell]


def run_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Run the cells of a page that was read, and add their output to it."""
    cells = list(doctree.findall(CellNode))
    if not cells:
        return
    sources = [(f"cell {number}", cell["source"]) for number, cell in enumerate(cells, 1)]
    for cell, output in zip(cells, run_in_process(sources), strict=True):
        if output.error != cell["raises"]:
            place = f"{app.env.docname}, line {cell['line']}"
            expected = f"{cell['raises']} expected, but " if cell["raises"] else ""
            raised = f"raises an error:\n{output.trace}" if output.trace else "raises no error"
            raise ExtensionError(f"{place}: {expected}the cell {raised}")
        cell["output"] = output


def run_in_process(sources: list[tuple[str, str]]) -> list[Output]:
    """Run pairs of a name and a source in one new process.

    Raises:
        ExtensionError: the process failed; the message contains the end of its stderr.
    """
    settings = {name: value for name, value in os.environ.items() if not name.startswith("MT_")}
    settings["PYTHONPATH"] = str(ROOT / "docs")  # for `drawings`
    settings["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for each other disturb measurements
    result = subprocess.run(
        [sys.executable, "-W", "error", str(RUNNING)],
        input=json.dumps(sources),
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise ExtensionError(f"the process that runs the cells failed:\n{result.stderr[-2000:]}")
    return [Output(**fields) for fields in json.loads(result.stdout.splitlines()[-1])]


def visit_cell(self: Any, node: CellNode) -> None:
    """Open the cell, with the attributes with which the browser runs it."""
    if node["hidden"]:
        if not node["static"]:
            source = html.escape(node["source"])
            self.body.append(f'<div class="cell-setup" data-source="{source}" hidden></div>')
        raise nodes.SkipNode
    kind = "cell static" if node["static"] else "cell"
    self.body.append(f'<div class="{kind}">')


def depart_cell(self: Any, node: CellNode) -> None:
    """Write the output, and close the cell."""
    output: Output = node["output"]
    scrolls = ' tabindex="0"' if "<svg" in output.html else ""  # on small screens
    self.body.append(f'<div class="cell-output"{scrolls}>')
    if output.printed:
        self.body.append(f"<pre>{html.escape(output.printed.rstrip())}</pre>")
    self.body.append(output.html)
    if output.trace:
        self.body.append(f'<pre class="cell-error">{html.escape(output.trace)}</pre>')
    self.body.append("</div></div>\n")
