"""Export of networks to ONNX files, which other runtimes execute.

A network is recorded while it runs on example arguments, and each recorded call becomes a few nodes
of an ONNX graph. Reading order:

- `graph.py`: graphs, their nodes and constants.
- `views.py`: strided views of memory as nodes.
- `formulas.py`: elementwise formulas as nodes.
- `operations.py`: named operations, such as convolution, as single nodes.
- `tape.py`: the tape that records a network.
- `batch.py`: graphs for any batch size.
- `exporting.py`: `export`.
"""

from mt_nn.onnx.exporting import export

__all__ = ["export"]
