"""Drawings of tensors: their memory layout and the computation that made them.

`storage.py` draws a storage and a view of it, `graph.py` a recorded computation, and `program.py`
the program of a compiled function. The last two use the layout and SVG code of mt_autodiff. No
other module of mt_tensor imports this package.
"""

from mt_tensor.drawing.graph import draw_graph
from mt_tensor.drawing.program import draw_program
from mt_tensor.drawing.storage import draw_storage

__all__ = ["draw_graph", "draw_program", "draw_storage"]
