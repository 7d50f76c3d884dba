"""Load a network that `mt-train` has trained."""

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
    """A folder without a suitable training; the message says why, and what to enter."""


def saved(folder: str, *kinds: type[JobT]) -> tuple[JobT, Module]:
    """Return the job of a training, and its network in evaluation mode.

    Args:
        folder: the folder as typed; `~` is the home directory.
        *kinds: the allowed types of the job.

    Raises:
        FolderError: it is empty, its home directory is unknown, or it contains another job.
        FileError: it contains no training, or one that is not finished.
        StateDictError: its parameters do not match the network.
    """
    folder = folder.strip()
    if not folder:
        raise FolderError(f"the folder is empty: enter one such as runs/{_names(kinds)[0]}.")
    try:
        path = Path(folder).expanduser()
    except RuntimeError:
        raise FolderError(
            f"{folder} has an unknown home directory: enter the folder without ~."
        ) from None
    with use_generator(mt.Generator()):  # creating a network must not affect other trainings
        job, network = load(path)
    if not isinstance(job, kinds):
        raise FolderError(f"{folder} does not contain a training of {' or '.join(_names(kinds))}.")
    return job, network


def _names(kinds: tuple[type[Job], ...]) -> list[str]:
    """Return the names of jobs in `mt-train`."""
    return [name for name in JOBS if issubclass(job_class(name), kinds)]
