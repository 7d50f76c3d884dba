"""Pictures of tensors: how their elements lie in memory, and how they were computed.

`storage.py` draws a storage and the view of it that a tensor is; `graph.py` says what is to be seen
of a recorded computation, and `program.py` what of a compiled function's program. Both are laid out
and written down by the pictures of stage 1. Nothing else of mt_tensor imports this package.
"""

from mt_tensor.drawing.graph import draw_graph
from mt_tensor.drawing.program import draw_program
from mt_tensor.drawing.storage import draw_storage

__all__ = ["draw_graph", "draw_program", "draw_storage"]
