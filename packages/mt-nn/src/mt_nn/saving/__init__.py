"""Models and trainings on disk, in a plain format that runs no code when it is read."""

from mt_nn.saving.objects import load, read_metadata, save

__all__ = [
    "load",
    "read_metadata",
    "save",
]
