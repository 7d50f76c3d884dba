"""Schedulers: how learning rates change from epoch to epoch, or from step to step.

One is made after the optimizer and stepped after it. Each changes the rate that it finds, so that
several can work on one optimizer.
"""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
