"""Load a trained network, for `mt-train predict runs/mnist my-digit.png`."""

from __future__ import annotations

from pathlib import Path

from mt_nn import saving
from mt_nn.errors import FileError
from mt_nn.jobs.command.runs import Run
from mt_nn.jobs.job import Job
from mt_operators import Module, StateDictError


def load(folder: Path) -> tuple[Job, Module]:
    """Return the job of a training run, and its network in evaluation mode.

    Raises:
        FileError: the training run does not exist or is not finished.
        StateDictError: the parameters do not fit the network.
    """
    run = Run.read(folder)
    if not run.finished:
        verb = "resume" if run.checkpoint() else "restart"
        raise FileError(
            f"the training run in {folder} is not finished: {verb} it with mt-train --resume "
            f"{folder}."
        )
    job = run.job()
    network = job.network()
    try:
        network.load_state_dict(saving.load(run.model))
    except FileError as error:
        raise FileError(f"{run.model} is missing or damaged: restore it or train again.") from error
    except (StateDictError, TypeError) as error:  # TypeError if it is not a dictionary
        raise StateDictError(f"{run.model} does not fit this network: {error}") from error
    network.eval()
    return job, network
