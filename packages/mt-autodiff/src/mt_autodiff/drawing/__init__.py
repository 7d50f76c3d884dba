"""Pictures of recorded computations: what made what, each value and each derivative.

`expression.py` says what is to be seen of a Scalar, `layout.py` where it goes, and `svg.py` writes
it down. Only the first knows of Scalars.
"""

from mt_autodiff.drawing.expression import to_svg
from mt_autodiff.drawing.svg import Svg

__all__ = ["Svg", "to_svg"]
