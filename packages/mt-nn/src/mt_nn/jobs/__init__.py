"""The jobs of the command `mt-train`: each trains and tests a network on a data set.

Each job is one file, which can serve as a template; `digits.py` is the shortest. The base class is
in `job.py`, the command in `command/cli.py`.
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
"""The jobs of `mt-train` by name; add your own here."""


def job_class(name: str) -> type[Job]:
    """Return the class of a job.

    Raises:
        SettingError: the name is unknown.
    """
    return JOBS[choice("the job", name, JOBS)]
