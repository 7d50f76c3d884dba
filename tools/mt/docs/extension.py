"""The Sphinx extension of the site: code by name, and cells that run in the reader's browser."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from mt.docs import (
    browser,
    cells,
    guides,
    mathematics,
    question,
    reference,
    signatures,
    source,
    stages,
    tasks,
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and the files for browsers."""
    app.add_directive("source", source.SourceDirective)
    app.add_directive("cell", cells.CellDirective)
    app.add_node(cells.CellNode, html=(cells.visit_cell, cells.depart_cell))
    app.add_directive("task", tasks.TaskDirective)
    app.add_node(tasks.TaskNode, html=(tasks.visit_task, tasks.depart_task))
    app.add_directive("question", question.QuestionDirective)
    app.add_node(question.QuestionNode, html=(question.visit_question, question.depart_question))
    app.add_node(question.SummaryNode, html=(question.visit_summary, question.depart_summary))
    app.add_html_math_renderer(
        "mathml", (mathematics.visit_math, None), (mathematics.visit_displaymath, None)
    )
    app.connect("doctree-read", cells.run_cells)
    app.connect("doctree-read", signatures.unlink_types)
    app.add_directive("added", stages.AddedDirective)
    app.connect("builder-inited", stages.write_ideas)
    app.connect("builder-inited", guides.write_guides)
    app.connect("builder-inited", reference.write_reference)
    app.add_config_value("pyodide_dir", None, "html", (str, type(None)))
    app.connect("html-page-context", browser.add_scripts)
    app.connect("build-finished", browser.copy_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
