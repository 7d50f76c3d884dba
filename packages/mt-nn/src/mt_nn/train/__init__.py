"""Training: a `Trainer` with metrics, logs and checkpoints; and the command `mt-train`.

It is imported by whoever trains, and not by `import mt_nn`.
"""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
