"""Optimizers: how parameters follow their gradients."""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
