"""`mt-train`: jobs that a network learns, each from data to a tested model, by one command.

A job is one file here, made to be copied: `digits.py` is the shortest. `job.py` says what it
consists of, and `cli.py` is the command.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from mt_nn.settings import choice

if TYPE_CHECKING:
    from mt_nn.library.jobs.job import Job

JOBS = {
    "digits": "digits.Digits",
    "mnist": "mnist.MNIST",
    "fashion": "mnist.Fashion",
    "cifar10": "cifar10.CIFAR10",
    "language": "language.Language",
    "shakespeare": "shakespeare.Shakespeare",
    "simple": "points.Simple",
    "diag": "points.Diag",
    "split": "points.Split",
    "xor": "points.Xor",
    "circle": "points.Circle",
    "spiral": "points.Spiral",
    "sentiment": "sentiment.Sentiment",
}
"""The class of each job, below this package. It is imported when it is asked for."""


def job_class(name: str) -> type[Job]:
    """Return the class of a job.

    Raises:
        SettingError: there is no job of that name.
    """
    module, class_name = JOBS[choice("the job", name, JOBS)].split(".")
    made: type[Job] = getattr(import_module(f"{__name__}.{module}"), class_name)
    return made
