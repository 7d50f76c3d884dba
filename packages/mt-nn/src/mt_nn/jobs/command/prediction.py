"""Asking a network that `mt-train` has trained: `mt-train predict runs/mnist my-digit.png`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mt_nn import saving
from mt_nn.errors import FileError
from mt_nn.jobs.command.runs import Run
from mt_nn.jobs.job import Job
from mt_operators import Module, StateDictError


def load(folder: Path) -> tuple[Job, Module]:
    """Return the job of a training, and its network, which evaluates.

    Raises:
        FileError: the training is not there or not finished.
        StateDictError: the parameters are not of this network.
    """
    run = Run.read(folder)
    if not run.finished:
        done = "goes on" if run.has_checkpoint() else "begins anew, for nothing was saved"
        raise FileError(
            f"the training in {folder} is not finished: mt-train --resume {folder} {done}."
        )
    job = run.job()
    network = job.network()
    try:
        run.check_identity(run.model)
        network.load_state_dict(saving.load(run.model))
    except FileError as error:
        raise FileError(
            f"{run.model} is missing or damaged: bring it back, or train again."
        ) from error
    except (StateDictError, TypeError) as error:  # the latter if it is no dictionary
        raise StateDictError(f"{run.model} is not of this network: {error}") from error
    network.eval()
    return job, network


def predict(folder: Path, texts: list[str]) -> Iterator[str]:
    """Yield what the network of a training says to each input, those before a wrong one included.

    Args:
        folder: that of the training.
        texts: names of images, or sentences, whatever the job takes.

    Raises:
        FileError: the training is not there or not finished, or a file is not what it should be.
        InputError: an input is nothing that the network can take.
        StateDictError: the parameters are not of this network.
    """
    job, network = load(folder)
    for text in texts:
        yield job.predict(network, text)
