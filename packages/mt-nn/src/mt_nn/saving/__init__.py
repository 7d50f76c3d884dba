"""Models and trainings on disk, in a plain format that runs no code when it is read."""

from mt_nn.names import offered

__getattr__, __dir__, __all__ = offered(__name__)
