"""The directive `question`: a question to the reader, with its answer folded.

:::{question} Why is the derivative of `c` with respect to itself 1?
The answer, in Markdown.
:::
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class QuestionNode(nodes.container):
    """A question, whose first child is the question and whose other children are the answer."""


class SummaryNode(nodes.paragraph):
    """The question itself."""


class QuestionDirective(SphinxDirective):
    """Show a question, with its answer folded."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the question and its answer."""
        inline, messages = self.parse_inline(self.arguments[0])
        summary = SummaryNode("", "", *inline)
        return [QuestionNode("", summary, *self.parse_content_to_nodes()), *messages]


def folded(summary: str, *content: nodes.Node) -> QuestionNode:
    """Return a block of which only one line is shown until the reader opens it."""
    return QuestionNode("", SummaryNode("", summary), *content)


def visit_question(self: Any, _node: QuestionNode) -> None:
    """Open the folded block."""
    self.body.append('<details class="question">')


def depart_question(self: Any, _node: QuestionNode) -> None:
    """Close the folded block."""
    self.body.append("</details>\n")


def visit_summary(self: Any, _node: SummaryNode) -> None:
    """Open the line that is always visible."""
    self.body.append("<summary>")


def depart_summary(self: Any, _node: SummaryNode) -> None:
    """Close the line that is always visible."""
    self.body.append("</summary>\n")
