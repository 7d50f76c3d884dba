"""Saving and loading of models and trainings, in a format that cannot execute code."""

from mt_nn.saving.objects import load, read_metadata, save

__all__ = ["load", "read_metadata", "save"]
