"""`mt-train`: jobs that a network learns, each from data to a tested model, by one command.

A job is one file here, made to be copied: `digits.py` is the shortest. `job.py` says what it
consists of, and `cli.py` is the command.
"""

from __future__ import annotations

from mt_nn.jobs.cifar10 import CIFAR10
from mt_nn.jobs.digits import Digits
from mt_nn.jobs.job import Job
from mt_nn.jobs.language import Language
from mt_nn.jobs.mnist import MNIST, Fashion
from mt_nn.jobs.points import POINTS
from mt_nn.jobs.sentiment import Sentiment
from mt_nn.jobs.shakespeare import Shakespeare
from mt_nn.utils.settings import choice

JOBS: dict[str, type[Job]] = {
    "digits": Digits,
    "mnist": MNIST,
    "fashion": Fashion,
    "cifar10": CIFAR10,
    "language": Language,
    "shakespeare": Shakespeare,
    **POINTS,
    "sentiment": Sentiment,
}
"""What `mt-train` can train. Whoever adds a job of their own to it can train that as well."""


def job_class(name: str) -> type[Job]:
    """Return the class of a job.

    Raises:
        SettingError: there is no job of that name.
    """
    return JOBS[choice("the job", name, JOBS)]
