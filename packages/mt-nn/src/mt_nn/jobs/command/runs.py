"""`Run`: the folder of a training run, to resume the run or to load its network.

`run.json` contains the job, its settings and state, and whether the run is finished.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

from mt_nn import saving
from mt_nn.errors import FileError, MissingFileError, files_needed
from mt_nn.files.reading import read_bytes
from mt_nn.files.writing import make_folder, write_atomically
from mt_nn.jobs import job_class
from mt_nn.jobs.job import Job, Settings
from mt_nn.saving.checkpoint import Checkpoints
from mt_nn.utils.settings import check, check_flags, choice
from mt_operators import Module

FILE = "run.json"

RESULTS = ("log.csv", "losses.csv", "model.safetensors", "training.png")
"""The files that every training writes."""


@dataclasses.dataclass
class Run:
    """A training run and its folder.

    Attributes:
        folder: the folder.
        name: the name of the job.
        settings: the settings of the run.
        job_state: the state of the job; see `Job.state`.
        finished: whether the run is complete, including the test.
        backend: the name of the backend.
        compile: whether to compile steps.
    """

    folder: Path
    name: str
    settings: Settings
    job_state: dict[str, Any] = dataclasses.field(default_factory=dict)
    finished: bool = False
    backend: str = "numpy"
    compile: bool = False

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.folder / "checkpoints"

    @property
    def model(self) -> Path:
        """The file of the network's parameters, written at the end of the training."""
        return self.folder / "model.safetensors"

    def job(self) -> Job:
        """Return the job with its state."""
        job = job_class(self.name)(self.settings)
        job.load_state(self.job_state)
        return job

    def save(self, network: Module) -> None:
        """Save the parameters of the trained network.

        Raises:
            FileError: the file cannot be written.
        """
        saving.save(network.state_dict(), self.model)

    def checkpoint(self) -> Path | None:
        """Return the last checkpoint; None if there is none."""
        if not os.path.isdir(self.checkpoints):  # noqa: PTH112
            return None
        return Checkpoints(self.checkpoints).last()

    def results(self) -> list[Path]:
        """Return the output files that exist."""
        names = (*RESULTS, *job_class(self.name).results)
        return [self.folder / name for name in names if (self.folder / name).is_file()]

    def begin(self) -> None:
        """Initialize the folder, and remove the files of a finished training run.

        Raises:
            FileError: as for `predecessor`; or a file cannot be written or removed.
        """
        before = self.predecessor()
        make_folder(self.folder)
        self.write()  # before anything is removed, in case the disk is full
        if before is not None:
            advice = ": choose another folder with --out."
            with files_needed(f"{self.folder} cannot be cleared", advice):
                for path in (*before.results(), *self.checkpoints.glob("*.safetensors")):
                    path.unlink()

    def predecessor(self) -> Run | None:
        """Return the previous run in the folder, which may be replaced; None if there is none.

        Raises:
            FileError: the run is not finished, or the folder contains other files.
        """
        try:
            before = Run.read(self.folder)
        except MissingFileError:
            others = [path.name for path in self.folder.glob("[!.]*")]
            if not others:
                return None
            raise FileError(
                f"{self.folder} contains {min(others)}, but no training run: choose an empty or "
                "new folder with --out."
            ) from None
        if before.checkpoint() and not before.finished:
            raise FileError(
                f"{self.folder} contains an unfinished training run: resume it with mt-train "
                f"--resume {self.folder}, remove it, or choose another folder with --out."
            )
        return before

    def write(self) -> None:
        """Write `run.json`.

        Raises:
            FileError: the file cannot be written.
        """
        content = dataclasses.asdict(self)
        del content["folder"]
        write_atomically(self.folder / FILE, json.dumps(content).encode())

    @classmethod
    def read(cls, folder: Path) -> Run:
        """Return the training run in a folder.

        Raises:
            MissingFileError: the folder contains no training run.
            FileError: `run.json` cannot be read, or is damaged.
        """
        path = folder / FILE
        try:
            content = json.loads(read_bytes(path, "json"))
            run = cls(folder, **{**content, "settings": Settings(**content["settings"])})
            run._check()
        except FileError as error:
            if os.path.isdir(folder) and not isinstance(error, MissingFileError):  # noqa: PTH112
                raise
            raise MissingFileError(
                f"{folder} is not the folder of a training run: it does not contain {FILE}. Pass "
                "the folder that was given as --out, or runs/JOB."
            ) from None
        except (AttributeError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(
                f"{path} is damaged: it does not describe a training run. Remove the folder, or "
                "choose another one."
            ) from error
        return run

    def _check(self) -> None:
        """Raise an error if an attribute is invalid."""
        check_flags(finished=self.finished, compile=self.compile)
        check("backend", self.backend, isinstance(self.backend, str), "a name")
        choice("model", self.settings.model, job_class(self.name).models)
        self.job()
