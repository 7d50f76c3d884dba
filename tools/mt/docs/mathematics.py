"""Formulas as MathML, which browsers render themselves: no script, no font, nothing to load."""

from __future__ import annotations

import itertools
import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

SYMBOL = re.compile(r"<mo>(&#x0221E;|&#x02026;|&#x02202;)</mo>")  # infinity, dots, partial
NAME = re.compile(r"<mo>([A-Za-z]{2,})</mo>")
BAR = re.compile(r'<mo stretchy="false">&#x0007C;</mo>')
BEFORE_SIGN = r"<mo[^>]*>&#x000(?:28|5B|3D|2C|B7|3C|3E);</mo>"  # ( [ = , . < >
SIGN = re.compile(f"({BEFORE_SIGN})<mo>(&#x02212;|&#x0002B;)</mo>")


def mathml(formula: str, display: str = "inline") -> str:
    """Return MathML with the spaces of TeX around names, signs, bars and slashes."""
    made = convert(formula, display=display)
    made = SYMBOL.sub(r"<mi>\1</mi>", made)
    made = NAME.sub(r'<mo form="prefix" lspace="0.17em" rspace="0">\1</mo>', made)
    made = made.replace("<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">/</mo>')
    made = SIGN.sub(r'\1<mo form="prefix">\2</mo>', made)
    if len(BAR.findall(made)) % 2 == 0:
        forms = itertools.cycle(("prefix", "postfix"))
        made = BAR.sub(lambda _: f'<mo form="{next(forms)}" stretchy="false">|</mo>', made)
    return made


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_displaymath(self: Any, node: nodes.math_block) -> None:
    """Write a formula in a line of its own."""
    self.body.append(
        f'<div class="formula" tabindex="0">{mathml(node.astext(), display="block")}</div>'
    )
    raise nodes.SkipNode
