"""`Run`: the folder of a training, with what is needed to go on with it, or to ask its network.

`run.json` says which job it is, with which settings, what the job knows from its data, and whether
the training has been finished.
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

if sys.platform != "win32":
    import fcntl

FILE = "run.json"

RESULTS = ("log.csv", "log.jsonl", "losses.csv", "model.safetensors", "training.png")
"""The files that every training writes."""

EARLIER = "earlier"
"""The folder, below that of a training, of the one that was trained there before."""

TRAINING = "training"
"""The name under which files of parameters say which training they are of."""

NAME_ANOTHER = ": name another folder with --out."

IRRELEVANT = ("data_dir", "test")
"""Settings that may change while a training is interrupted: files may have moved."""


@dataclasses.dataclass
class Run:
    """A training, and the folder of its files.

    Attributes:
        folder: where they lie.
        name: that of the job.
        settings: those of the training.
        known: what the job has learnt from its data besides; see `Job.known`.
        finished: whether it has been trained to the end, and tested.
        backend: the name of the backend that computes.
        compile: whether steps are run from programs; said anew by whoever goes on.
    """

    folder: Path
    name: str
    settings: Settings
    known: dict[str, Any] = dataclasses.field(default_factory=dict)
    finished: bool = False
    backend: str = "numpy"
    compile: bool = False

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.folder / "checkpoints"

    @property
    def model(self) -> Path:
        """The file of the network's parameters, once the training has been finished."""
        return self.folder / "model.safetensors"

    def job(self) -> Job:
        """Return the job, which knows what it knew."""
        job = job_class(self.name)(self.settings)
        job.recall(self.known)
        return job

    def identity(self) -> str:
        """Return what tells this training from others, as the files of its parameters say it."""
        settings = dataclasses.asdict(self.settings)
        told = {name: settings[name] for name in settings if name not in IRRELEVANT}
        return json.dumps({"job": self.name, **told})

    def metadata(self) -> dict[str, str]:
        """Return what files of parameters say beside them."""
        return {TRAINING: self.identity()}

    def save(self, network: Module) -> None:
        """Save the parameters of the network that came of it.

        Raises:
            FileError: they cannot be written.
        """
        saving.save(network.state_dict(), self.model, self.metadata())

    def check_identity(self, path: Path) -> None:
        """Check that parameters in a file are of this training.

        Raises:
            FileError: the file is missing or damaged.
            StateDictError: they are of another one.
        """
        theirs = saving.read_metadata(path).get(TRAINING, "unknown to mt-train")
        if theirs != self.identity():
            raise StateDictError(
                f"{path} is of another training, {theirs}; that in {self.folder} is "
                f"{self.identity()}. Bring its own file back, or begin again with another --out."
            )

    def checkpoint(self) -> Path | None:
        """Return the last checkpoint; None if there is nothing to go on from."""
        if not os.path.isdir(self.checkpoints):  # noqa: PTH112
            return None
        return Checkpoints(self.checkpoints).last()

    def has_checkpoint(self) -> bool:
        """Return whether there is something to go on from."""
        return self.checkpoint() is not None

    def results(self) -> list[Path]:
        """Return the files that it has written for those who look at it."""
        paths = [self.folder / name for name in (*RESULTS, *job_class(self.name).results)]
        return sorted(path for path in paths if path.is_file())

    def begin(self) -> None:
        """Take the folder over; what a finished training has left goes into `earlier`.

        Raises:
            FileError: as `predecessor`; or something cannot be written or moved.
        """
        before = self.predecessor()
        if before is None or not before.finished:
            self.write()
            if before is not None:
                self._remove(*before.results())
            return
        earlier = dataclasses.replace(before, folder=self.folder / EARLIER)
        make_folder(earlier.folder)
        earlier._remove(*earlier.results())
        earlier.write()
        self.write()  # nothing has been moved yet, if the disk is full
        self._remove(*self.checkpoints.glob("*.safetensors"))
        with self._clearing():
            for path in before.results():
                path.replace(earlier.folder / path.name)

    def predecessor(self) -> Run | None:
        """Return the training whose folder this one may take over, None if there is none.

        Raises:
            FileError: that is not finished, or the folder is one of other files.
        """
        try:
            before = Run.read(self.folder)
        except MissingFileError:
            self._check_empty()
            return None
        if before.has_checkpoint() and not before.finished:
            raise FileError(
                f"{self.folder} holds a training that is not finished: go on with mt-train "
                f"--resume {self.folder}, remove it, or name another folder with --out."
            )
        return before

    def check_unfinished(self) -> None:
        """Raise SettingError if there is nothing left to go on with."""
        if Run.read(self.folder).finished:
            raise SettingError(
                f"the training in {self.folder} has been finished: mt-train predict {self.folder} "
                "asks its network, and without --resume another one begins."
            )

    def _check_empty(self) -> None:
        """Raise FileError if there are files of somebody else, which might be written over."""
        try:
            names = [name for name in os.listdir(self.folder) if name[0] != "."]  # noqa: PTH208
        except OSError:  # it does not exist yet, or `held` raises an error about it
            return
        if names:
            raise FileError(
                f"{self.folder} is no folder of a training, and holds {min(names)}: name a folder "
                "that is empty, or not there yet, with --out."
            )

    def _remove(self, *paths: Path) -> None:
        with self._clearing():
            for path in paths:
                path.unlink(missing_ok=True)

    def _clearing(self) -> contextlib.AbstractContextManager[None]:
        return files_needed(f"{self.folder} cannot be cleared", NAME_ANOTHER)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Create the folder, and lock it against other trainings inside a `with` block.

        Windows and some file systems have no such locks; nothing is locked there.

        Raises:
            FileError: the folder cannot be created or opened, or another training has locked it.
        """
        make_folder(self.folder)
        if sys.platform == "win32":
            yield
            return
        with files_needed(f"{self.folder} cannot be opened", NAME_ANOTHER):
            folder = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(folder)
            raise FileError(
                f"another mt-train is training in {self.folder}: wait for it, or name another "
                "folder with --out."
            ) from None
        except OSError:  # the file system has no locks
            pass
        try:
            yield
        finally:
            os.close(folder)

    def finish(self) -> None:
        """Note that nothing is left to do."""
        self.finished = True
        self.write()

    def write(self) -> None:
        """Write the file that describes it.

        Raises:
            FileError: it cannot be written.
        """
        content = {
            "job": self.name,
            "settings": dataclasses.asdict(self.settings),
            "known": self.known,
            "finished": self.finished,
            "backend": self.backend,
        }
        write_atomically(self.folder / FILE, json.dumps(content).encode())

    @classmethod
    def read(cls, folder: Path) -> Run:
        """Return the training whose files lie in a folder.

        Raises:
            MissingFileError: there is none.
            FileError: the file that describes it cannot be read, or is damaged.
        """
        path = folder / FILE
        try:
            content = json.loads(read_bytes(path, "json"))
            settings = Settings(**content["settings"])
            names = ("known", "finished", "backend")
            run = cls(folder, content["job"], settings, *(content[name] for name in names))
            check_flags(finished=run.finished)
            models = job_class(run.name).models
            kinds = {"known": dict, "backend": str}
            whole = all(isinstance(content[name], kind) for name, kind in kinds.items())
            if settings.model in models and whole:
                run.job()
                return run
        except FileError as error:
            if os.path.isdir(folder) and not isinstance(error, MissingFileError):  # noqa: PTH112
                raise
            raise MissingFileError(
                f"{folder} is no folder of a training: it holds no {FILE}. Name what --out was, "
                "or runs/ and the name of the job."
            ) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        raise FileError(
            f"{path} is damaged: it describes no training of mt-train. Remove the folder, or name "
            "another one."
        )
