"""Drawings for the pages of the site: SVG in the colors of light and dark themes.

A cell whose last expression is a `Picture` shows it. This package uses only the standard library
and the stages, so that it also runs in the reader's browser.
"""

from drawings.chart import plot
from drawings.grid import grid
from drawings.images import images
from drawings.picture import Picture, Steps
from drawings.plane import plane
from drawings.sliding import sliding
from drawings.valley import valley

__all__ = ["Picture", "Steps", "grid", "images", "plane", "plot", "sliding", "valley"]
