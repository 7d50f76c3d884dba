"""Formulas as MathML, which browsers render themselves: no script, no font, nothing to load."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_displaymath(self: Any, node: nodes.math_block) -> None:
    """Write a formula in a line of its own."""
    self.body.append(
        f'<div class="formula" tabindex="0">{convert(node.astext(), display="block")}</div>'
    )
    raise nodes.SkipNode
