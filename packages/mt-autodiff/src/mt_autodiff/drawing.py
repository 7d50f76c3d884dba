"""Pictures of recorded computations: those of the library, under the name that users know."""

from mt_autodiff.library.drawing import Svg as Svg, to_svg as to_svg
