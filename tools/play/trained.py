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
from play.inputs import InputError

JobT = TypeVar("JobT", bound=Job)


def saved(folder: str, *kinds: type[JobT]) -> tuple[JobT, Module]:
    """Return the job of a training run, and its network in evaluation mode.

    Args:
        folder: the folder as typed; `~` is the home directory.
        *kinds: the allowed types of the job.

    Raises:
        InputError: the home directory is unknown, or the folder contains another job.
        FileError: the folder contains no training, or one that is not finished.
        StateDictError: the saved parameters do not match the network.
    """
    try:
        path = Path(folder.strip()).expanduser()
    except RuntimeError as error:
        raise InputError(f"{folder}: {error}") from None
    with use_generator(mt.Generator()):  # creating a network must not affect other trainings
        job, network = load(path)
    if not isinstance(job, kinds):
        names = [name for name in JOBS if issubclass(job_class(name), kinds)]
        raise InputError(f"{folder} does not contain a training run of {' or '.join(names)}.")
    return job, network
