"""First values of parameters. The names are torch's, and so are the formulas."""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
