"""Saving and loading of models and checkpoints; no code in a file is ever executed."""

from mt_nn.saving.objects import load, read_metadata, save

__all__ = ["load", "read_metadata", "save"]
