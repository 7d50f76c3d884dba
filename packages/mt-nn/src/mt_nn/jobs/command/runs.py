"""`Run`: the folder of a training, from which it can be resumed, and its network loaded.

`run.json` contains the job, its settings and state, and whether the training is finished.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mt_nn import saving
from mt_nn.errors import FileError, MissingFileError, SettingError, files_needed
from mt_nn.files.reading import read_bytes
from mt_nn.files.writing import make_folder, write_atomically
from mt_nn.jobs import job_class
from mt_nn.jobs.job import Job, Settings
from mt_nn.saving.checkpoint import Checkpoints
from mt_nn.utils.settings import check_flags
from mt_operators import Module, StateDictError

if sys.platform != "win32" and sys.platform != "wasi":
    import fcntl

FILE = "run.json"

RESULTS = ("log.csv", "log.jsonl", "losses.csv", "model.safetensors", "training.png")
"""The files that every training writes."""

PREVIOUS = "earlier"
"""The subfolder for the previous training in the same folder."""

TRAINING = "training"
"""The metadata key in parameter files that identifies the training."""

NAME_ANOTHER = ": choose another folder with --out."

IRRELEVANT = ("data_dir", "test")
"""Settings that may differ when a training is resumed."""


@dataclasses.dataclass
class Run:
    """A training and its folder.

    Attributes:
        folder: the folder.
        name: the name of the job.
        settings: the settings of the training.
        job_state: the state of the job; see `Job.state`.
        finished: whether the training is complete, including the test.
        backend: the name of the backend.
        compile: whether to compile steps; not saved.
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

    def identity(self) -> str:
        """Return a text that identifies this training in parameter files."""
        settings = dataclasses.asdict(self.settings)
        relevant = {name: settings[name] for name in settings if name not in IRRELEVANT}
        return json.dumps({"job": self.name, **relevant})

    def metadata(self) -> dict[str, str]:
        """Return the metadata of parameter files."""
        return {TRAINING: self.identity()}

    def save(self, network: Module) -> None:
        """Save the parameters of the trained network.

        Raises:
            FileError: the file cannot be written.
        """
        saving.save(network.state_dict(), self.model, self.metadata())

    def check_identity(self, path: Path) -> None:
        """Check that a parameter file belongs to this training.

        Raises:
            FileError: the file is missing or damaged.
            StateDictError: the file belongs to another training.
        """
        identity = saving.read_metadata(path).get(TRAINING, "unknown to mt-train")
        if identity != self.identity():
            raise StateDictError(
                f"{path} belongs to another training, {identity}; the one in {self.folder} is "
                f"{self.identity()}. Restore its own file, or start again with another --out."
            )

    def checkpoint(self) -> Path | None:
        """Return the last checkpoint; None if there is none."""
        if not os.path.isdir(self.checkpoints):  # noqa: PTH112
            return None
        return Checkpoints(self.checkpoints).last()

    def results(self) -> list[Path]:
        """Return the output files that exist."""
        paths = [self.folder / name for name in (*RESULTS, *job_class(self.name).results)]
        return sorted(path for path in paths if path.is_file())

    def begin(self) -> None:
        """Initialize the folder; move the files of a finished training to `earlier`.

        Raises:
            FileError: as for `predecessor`; or a file cannot be written or moved.
        """
        before = self.predecessor()
        if before is None or not before.finished:
            self.write()
            if before is not None:
                self._remove(*before.results())
            return
        earlier = dataclasses.replace(before, folder=self.folder / PREVIOUS)
        make_folder(earlier.folder)
        earlier._remove(*earlier.results())
        earlier.write()
        self.write()  # before anything is moved, in case the disk is full
        self._remove(*self.checkpoints.glob("*.safetensors"))
        with self._clearing():
            for path in before.results():
                path.replace(earlier.folder / path.name)

    def predecessor(self) -> Run | None:
        """Return the previous training in the folder, which may be replaced; None if there is none.

        Raises:
            FileError: it is not finished, or the folder contains other files.
        """
        try:
            before = Run.read(self.folder)
        except MissingFileError:
            self._check_empty()
            return None
        if before.checkpoint() and not before.finished:
            raise FileError(
                f"{self.folder} contains an unfinished training: resume it with mt-train --resume "
                f"{self.folder}, remove it, or choose another folder with --out."
            )
        return before

    def check_unfinished(self) -> None:
        """Raise SettingError if the training is finished."""
        if Run.read(self.folder).finished:
            raise SettingError(
                f"the training in {self.folder} is finished: use its network with mt-train predict "
                f"{self.folder}, or train again without --resume."
            )

    def _check_empty(self) -> None:
        """Raise FileError if there are other files, which might be overwritten."""
        try:
            names = [name for name in os.listdir(self.folder) if name[0] != "."]  # noqa: PTH208
        except OSError:  # it does not exist yet, or `locked` raises an error about it
            return
        if names:
            raise FileError(
                f"{self.folder} contains {min(names)}, but no training: choose an empty or new "
                "folder with --out."
            )

    def _remove(self, *paths: Path) -> None:
        with self._clearing():
            for path in paths:
                path.unlink(missing_ok=True)

    def _clearing(self) -> contextlib.AbstractContextManager[None]:
        return files_needed(f"{self.folder} cannot be cleared", NAME_ANOTHER)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Create the folder, and lock it against other trainings inside a `with` block.

        Windows and some file systems have no such locks; nothing is locked there.

        Raises:
            FileError: the folder cannot be created or opened, or another training has locked it.
        """
        make_folder(self.folder)
        if sys.platform == "win32" or sys.platform == "wasi":
            yield
            return
        with files_needed(f"{self.folder} cannot be opened", NAME_ANOTHER):
            folder = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(folder)
            raise FileError(
                f"another mt-train is training in {self.folder}: wait for it, or choose another "
                "folder with --out."
            ) from None
        except OSError:  # the file system has no locks
            pass
        try:
            yield
        finally:
            os.close(folder)

    def finish(self) -> None:
        """Mark the training as finished."""
        self.finished = True
        self.write()

    def write(self) -> None:
        """Write `run.json`.

        Raises:
            FileError: the file cannot be written.
        """
        content = {
            "job": self.name,
            "settings": dataclasses.asdict(self.settings),
            "known": self.job_state,
            "finished": self.finished,
            "backend": self.backend,
        }
        write_atomically(self.folder / FILE, json.dumps(content).encode())

    @classmethod
    def read(cls, folder: Path) -> Run:
        """Return the training in a folder.

        Raises:
            MissingFileError: there is none.
            FileError: `run.json` cannot be read, or is damaged.
        """
        path = folder / FILE
        try:
            content = json.loads(read_bytes(path, "json"))
            settings = Settings(**content["settings"])
            names = ("known", "finished", "backend")
            run = cls(folder, content["job"], settings, *(content[name] for name in names))
            check_flags(finished=run.finished)
            models = job_class(run.name).models
            valid = isinstance(content["known"], dict) and isinstance(content["backend"], str)
            if settings.model in models and valid:
                run.job()
                return run
        except FileError as error:
            if os.path.isdir(folder) and not isinstance(error, MissingFileError):  # noqa: PTH112
                raise
            raise MissingFileError(
                f"{folder} is not the folder of a training: it does not contain {FILE}. Pass the "
                "folder that was given as --out, or runs/JOB."
            ) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        raise FileError(
            f"{path} is damaged: it does not describe a training. Remove the folder, or choose "
            "another one."
        )
