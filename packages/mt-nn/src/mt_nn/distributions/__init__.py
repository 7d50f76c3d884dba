"""Probability distributions that can be drawn from and differentiated, under torch's names."""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
