"""What training needs beside layers.

Sequences of different lengths in one batch, parameters that are computed from others, layers that
become one, and what is done with all gradients or parameters.
"""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
