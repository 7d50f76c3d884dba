"""Drawings of recorded computation graphs with values and derivatives.

`expression.py` reads the graph of a Scalar, `layout.py` places the boxes, and `svg.py` writes SVG.
Only the first depends on Scalars.
"""

from mt_autodiff.drawing.expression import to_svg
from mt_autodiff.drawing.svg import Svg

__all__ = ["Svg", "to_svg"]
