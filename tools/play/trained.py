"""A network that `mt-train` has trained, in a folder that somebody names."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import mt_tensor as mt
from mt_nn.jobs import JOBS, job_class
from mt_nn.jobs.command.prediction import load
from mt_nn.jobs.job import Job
from mt_operators import Module
from mt_tensor.extending import use_generator

JobT = TypeVar("JobT", bound=Job)


class FolderError(ValueError):
    """What was named is no folder of a training that is wanted; says why, and what to name."""


def saved(folder: str, *kinds: type[JobT]) -> tuple[JobT, Module]:
    """Return the job of a training, and its network, which evaluates.

    Args:
        folder: as somebody has typed it; `~` is their home.
        *kinds: what the job may be.

    Raises:
        FolderError: none is named, nobody knows where it is, or it is that of another job.
        FileError: there is no training, or it is not finished.
        StateDictError: its parameters are not of this network.
    """
    folder = folder.strip()
    if not folder:
        raise FolderError(f"no folder is named: write one such as runs/{_names(kinds)[0]}.")
    try:
        path = Path(folder).expanduser()
    except RuntimeError:
        raise FolderError(
            f"{folder} begins with a home that nobody here has: write the folder without ~."
        ) from None
    with use_generator(mt.Generator()):  # a network begins with random numbers, and others learn
        job, network = load(path)
    if not isinstance(job, kinds):
        raise FolderError(f"{folder} is no training of {' or '.join(_names(kinds))}: name one.")
    return job, network


def _names(kinds: tuple[type[Job], ...]) -> list[str]:
    """Return how `mt-train` calls jobs of some kinds."""
    return [name for name in JOBS if issubclass(job_class(name), kinds)]
