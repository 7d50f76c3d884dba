"""Checkpoints: all that a training needs to go on exactly where it was, in one file.

A part is anything with `state_dict()` and `load_state_dict()`: a model, an optimizer, a scheduler,
a loader; it need not be one of this package. All else are values, which are handed back. The states
of the random generators go with them, since a training that draws other numbers is another one.
"""

from __future__ import annotations

import math
import operator
import os
import pickle
import re
import reprlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from mt_nn.core.settings import integer
from mt_nn.errors import FileError, SettingError, files_needed
from mt_nn.files.writing import make_folder
from mt_nn.saving.objects import File, fetch, read_metadata, store
from mt_nn.saving.values import Encoder, state_methods
from mt_nn.utils.settings import check_either
from mt_operators import StateDictError
from mt_tensor import get_backend, get_rng_state, set_rng_state


class Generators:
    """The random generators of the process: mt-tensor's, Python's and NumPy's older one."""

    def state_dict(self) -> dict[str, Any]:
        """Return where in their sequences they are."""
        import random

        version, numbers, pending = random.getstate()
        python = version, np.array(numbers, np.uint32), pending
        numpy: Any = np.random.get_state(legacy=False)  # noqa: NPY002 - users may draw from it
        return {"mt_tensor": get_rng_state(), "python": python, "numpy": numpy}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take them there.

        Raises:
            StateDictError: NumPy's generator cannot be there, and would not notice.
        """
        import random

        numpy = state["numpy"]
        if not 0 <= numpy["state"]["pos"] <= len(numpy["state"]["key"]):
            raise StateDictError("NumPy's generator cannot be where the state says.")
        version, numbers, pending = state["python"]
        set_rng_state(state["mt_tensor"])
        random.setstate((version, tuple(map(operator.index, numbers)), pending))
        np.random.set_state(numpy)  # noqa: NPY002


def save_checkpoint(
    file: File,
    /,
    *,
    generators: bool = True,
    metadata: Mapping[str, str] | None = None,
    **parts: Any,
) -> None:
    """Save the state of a training.

        save_checkpoint("run.safetensors", model=model, optimizer=optimizer, epoch=3)

    It is what `save` would write of a dictionary of states and values. Its tensors have names as in
    `model.linear.weight`, under which other readers of safetensors find them.

    Args:
        file: the path, which then has the whole file or the earlier one; or an opened file.
        generators: whether the states of mt-tensor's default random generator, of Python's
            `random` and of NumPy's `np.random` are saved, too.
        metadata: strings by name for the header of the file, which `read_metadata` returns.
        **parts: by a name of your choice, whatever has a state, or lists and dictionaries of such;
            and values as `save` takes them. A `mt_tensor.Generator` of one's own has a state, too.

    Raises:
        FileError: it could not be written; an earlier file of that name is untouched.
        SettingError: `metadata` holds something else than strings.
        StateDictError: a part can be neither; nothing was written.
        MissingPackageError: safetensors is not installed.
    """
    everything = {**parts, "generators": Generators()} if generators else parts
    store(everything, Encoder(takes_states=True), file, metadata)


def load_checkpoint(
    file: File, /, *, generators: bool = True, backend: Any = None, **parts: Any
) -> dict[str, Any]:
    """Load the state of a training. If anything does not fit, nothing changes.

        values = load_checkpoint("run.safetensors", model=model, optimizer=optimizer)

    Args:
        file: the path of a file that `save_checkpoint` wrote, or `save` of a dictionary of states
            and values; or such a file that was opened.
        generators: whether the random generators go to where they were, if they were saved.
        backend: where tensors among the values shall live; the current backend if None. Those of
            parts live where the part has them.
        **parts: what takes over its state, under the name that it was saved by.

    Returns:
        All that was saved and not asked for, by name: values, and the states of other parts.

    Raises:
        FileError: the file is missing, truncated, damaged or no checkpoint.
        SettingError: something has no state to take over.
        StateDictError: the checkpoint has no such part, or the state does not fit it.
        UnknownBackendError: there is no such backend.
        MissingPackageError: safetensors is not installed.
    """
    saved = fetch(file, get_backend(backend))
    called = os.fspath(file) if isinstance(file, (str, os.PathLike)) else "the file"
    if not isinstance(saved, dict):
        raise FileError(f"{called} is no checkpoint: it holds a {type(saved).__name__}.")
    drawn = saved.pop("generators", None)
    pairs: list[_Pair] = []
    for name, part in parts.items():
        if name not in saved:
            names = ", ".join(map(str, saved))[:200]
            raise StateDictError(
                f"{called} holds no {name!r}; it holds {names or 'nothing'}. A model alone is read "
                "with mt_nn.load()."
            )
        pairs.extend(_pairs(name, part, saved.pop(name)))
    if generators and drawn is not None:
        pairs.extend(_pairs("generators", Generators(), drawn))
    _load_all(pairs)
    return saved


class _Pair(NamedTuple):
    """An object and the state that it is to take over.

    Attributes:
        name: what the object is called.
        give: returns its state now.
        take: takes over a state.
        state: the one that was saved.
    """

    name: str
    give: Callable[[], Any]
    take: Callable[[Any], Any]
    state: Any


def _pairs(name: str, part: Any, saved: Any) -> Iterator[_Pair]:
    """Yield a part with its saved state, or each part in a list or dictionary with its own."""
    methods = state_methods(part)
    if methods is not None:
        yield _Pair(name, *methods, saved)
    elif isinstance(part, (list, tuple, Mapping)):
        keys = list(part) if isinstance(part, Mapping) else range(len(part))
        held = dict(saved) if isinstance(saved, dict) else dict(enumerate(_listed(saved)))
        if set(held) != set(keys):
            raise StateDictError(
                f"{name} was saved with parts {list(held)}, and has {list(keys)} now."
            )
        for key in keys:
            yield from _pairs(f"{name}.{key}", part[key], held[key])
    else:
        raise SettingError(
            f"{name} is {reprlib.repr(part)}, which has no load_state_dict() to take over a state. "
            "Values are not asked for: load_checkpoint() returns them."
        )


def _listed(saved: Any) -> list[Any]:
    return list(saved) if isinstance(saved, (list, tuple)) else []


def _load_all(pairs: Sequence[_Pair]) -> None:
    """Let every object take over its state. If one cannot, all have their earlier ones again."""
    earlier = [pickle.dumps(pair.give()) for pair in pairs]  # copies, hardly ever unpacked
    for count, (name, _, take, state) in enumerate(pairs, 1):
        try:
            take(state)
        except BaseException as error:
            for pair, before in zip(pairs[:count], earlier, strict=False):
                pair.take(pickle.loads(before))
            if not isinstance(error, Exception):
                raise
            raise StateDictError(f"the saved state does not fit {name}: {error}") from error


# --- A folder of checkpoints ----------------------------------------------------------------------


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
        check_either("mode", mode, "min", "max")
        self.folder, self.mode, self.metadata = Path(folder), mode, metadata or {}
        make_folder(self.folder)

    def paths(self) -> list[Path]:
        """Return the checkpoints there are, by step."""
        found = [path for path in self._files() if _NAME.fullmatch(path.name)]
        return sorted(found, key=lambda path: int(path.name[5:].split(".")[0]))

    def _files(self) -> list[Path]:
        with files_needed(f"could not list the folder {self.folder}"):
            return list(self.folder.iterdir())

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
        with files_needed("could not remove an earlier checkpoint"):
            for path in scores.keys() - kept:
                path.unlink(missing_ok=True)

    def load(self, which: Literal["last", "best"] = "last", **parts: Any) -> dict[str, Any]:
        """Load the last checkpoint or the best one, as `load_checkpoint` does.

        Raises:
            FileError: there is none, or it is damaged.
            SettingError: `which` is neither.
            StateDictError: it does not fit; nothing has changed.
        """
        check_either("which", which, "last", "best")
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
