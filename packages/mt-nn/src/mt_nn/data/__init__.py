"""Data sets, loaders that serve them in batches, transforms, and readers of published formats."""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
