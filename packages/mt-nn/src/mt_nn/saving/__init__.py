"""Models and trainings on disk, as safetensors: a plain format that runs no code when it is read.

A file is written beside its target and then moved over it in one step, so that a save which fails,
or whose process is killed, leaves the earlier file whole.
"""

from mt_nn.saving.files import write_atomically
from mt_nn.saving.models import load, read_metadata, save

__all__ = ["load", "read_metadata", "save", "write_atomically"]
