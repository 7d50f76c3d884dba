"""`Checkpoints`: a folder of checkpoints, of which the last few and the best are kept."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from mt_nn.core.settings import integer
from mt_nn.errors import FileError, SettingError
from mt_nn.files.writing import make_folder
from mt_nn.saving.checkpoint import load_checkpoint, save_checkpoint
from mt_nn.saving.objects import read_metadata

_NAME = re.compile(r"step-([0-9]+)\.safetensors")


class Checkpoints:
    """A folder of checkpoints, one for each step at which one was saved.

    One process at a time may write into it.

        checkpoints = Checkpoints("runs/mine", keep_last=2, keep_best=1)
        checkpoints.save(step, score=validation_loss, model=model, optimizer=optimizer)
        values = checkpoints.load(model=model, optimizer=optimizer)

    Args:
        folder: where they lie; it is made if need be.
        keep_last: how many of the last are kept, at least one.
        keep_best: how many of the best are kept beside those.
        mode: whether the best score is the least, "min", or the greatest, "max".
        metadata: strings by name that are kept in each, such as what is trained; `read_metadata`
            returns them. "score" is the name of the score.

    Raises:
        FileError: the folder cannot be made.
        SettingError: a number or the mode is invalid.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        keep_last: int = 1,
        keep_best: int = 0,
        mode: Literal["min", "max"] = "min",
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        self.keep_last = integer("keep_last", keep_last, 1)
        self.keep_best = integer("keep_best", keep_best, 0)
        if mode not in ("min", "max"):
            raise SettingError(f"mode must be 'min' or 'max'; got {mode!r}.")
        self.folder, self.mode, self.metadata = Path(folder), mode, metadata or {}
        make_folder(self.folder)

    def paths(self) -> list[Path]:
        """Return the checkpoints there are, by step."""
        found = [path for path in self._files() if _NAME.fullmatch(path.name)]
        return sorted(found, key=lambda path: int(path.name[5:].split(".")[0]))

    def _files(self) -> list[Path]:
        try:
            return list(self.folder.iterdir())
        except OSError as error:
            raise FileError(
                f"could not list the folder {self.folder} ({error.strerror or error})."
            ) from error

    def last(self) -> Path | None:
        """Return the checkpoint of the greatest step; None if there is none."""
        return next(reversed(self.paths()), None)

    def best(self) -> Path | None:
        """Return the checkpoint with the best score, of several the first; None if none has one.

        Damaged files are passed over, with a warning.
        """
        return next(iter(self._by_score(self._scores())), None)

    def _by_score(self, scores: Mapping[Path, float]) -> list[Path]:
        """Return the checkpoints that have a score, the best first."""
        rated = {path: score for path, score in scores.items() if not math.isnan(score)}
        return sorted(rated, key=lambda path: rated[path] if self.mode == "min" else -rated[path])

    def _scores(self) -> dict[Path, float]:
        """Return the scores of the checkpoints that are whole, by step; nan if one has none."""
        scores = {}
        for path in self.paths():
            try:
                scores[path] = _score(path)
            except FileError as error:
                warnings.warn(f"a checkpoint is passed over: {error}", RuntimeWarning, stacklevel=3)
        return scores

    def save(self, step: int, score: float | None = None, **parts: Any) -> Path:
        """Save a checkpoint, remove those that are not to be kept, and return its path.

        A file in the folder that is truncated, or whose header is damaged, is neither counted nor
        removed, and there is a warning.

        Args:
            step: how far the training is, not negative; a checkpoint of that step is replaced.
            score: how good it is, if that is known; nan is never among the best.
            **parts: as for `save_checkpoint`.

        Raises:
            FileError: it could not be written, or an earlier one not be removed.
            SettingError: the step is no such integer.
            StateDictError: a part cannot be saved.
        """
        number = integer("step", step, 0)
        path = self.folder / f"step-{number:08}.safetensors"
        rated = {} if score is None else {"score": repr(float(score))}
        save_checkpoint(path, metadata={**self.metadata, **rated}, **parts)
        self._remove_others(path)
        return path

    def _remove_others(self, newest: Path) -> None:
        """Remove what is not to be kept.

        Damaged files are left alone, and none counts instead of a whole one.
        """
        scores = self._scores()
        kept = {newest, *list(scores)[-self.keep_last :]}
        kept.update(self._by_score(scores)[: self.keep_best])
        try:
            for path in scores.keys() - kept:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise FileError(
                f"could not remove an earlier checkpoint ({error.strerror or error})."
            ) from error

    def load(self, which: Literal["last", "best"] = "last", **parts: Any) -> dict[str, Any]:
        """Load the last checkpoint or the best one, as `load_checkpoint` does.

        Raises:
            FileError: there is none, or it is damaged.
            SettingError: `which` is neither.
            StateDictError: it does not fit; nothing has changed.
        """
        if which not in ("last", "best"):
            raise SettingError(f"which must be 'last' or 'best'; got {which!r}.")
        path = self.last() if which == "last" else self.best()
        if path is None:
            raise FileError(f"{self.folder} holds no checkpoint to load ({which}).")
        return load_checkpoint(path, **parts)


def _score(path: Path) -> float:
    """Return the score of a checkpoint; nan if it has none."""
    text = read_metadata(path).get("score", "nan")
    try:
        return float(text)
    except ValueError as error:
        raise FileError(f"{path} has the score {text!r}, which is no number.") from error
