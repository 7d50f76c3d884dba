"""Checkpoints: everything that is needed to resume a training run exactly, in one file.

A part is any object with `state_dict()` and `load_state_dict()`, such as a model, an optimizer, a
scheduler or a loader, of this package or not. Everything else is a value, which loading returns.
The states of random generators are included, so that a resumed run draws the same numbers.
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
from mt_nn.saving.locations import Locations
from mt_nn.saving.objects import File, fetch, read_metadata, store
from mt_nn.saving.values import Encoder, state_methods
from mt_nn.utils.settings import choice
from mt_operators import StateDictError
from mt_tensor import get_rng_state, set_rng_state


class Generators:
    """The global random generators of mt-tensor, Python and NumPy."""

    def state_dict(self) -> dict[str, Any]:
        """Return the states of the generators."""
        import random

        version, numbers, pending = random.getstate()
        python = version, np.array(numbers, np.uint32), pending
        numpy: Any = np.random.get_state(legacy=False)  # noqa: NPY002 - users may use it
        return {"mt_tensor": get_rng_state(), "python": python, "numpy": numpy}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the states of the generators.

        Raises:
            StateDictError: the position of NumPy's generator is out of range.
        """
        import random

        numpy = state["numpy"]
        if not 0 <= numpy["state"]["pos"] <= len(numpy["state"]["key"]):
            raise StateDictError("the position in the state of NumPy's generator is out of range.")
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
    """Save the state of a training run.

        save_checkpoint("run.safetensors", model=model, optimizer=optimizer, epoch=3)

    The file is the same as that of `save` for a dictionary of states and values. Tensors have names
    such as `model.linear.weight` for other readers of safetensors.

    Args:
        file: the path, whose file is replaced atomically; or a file object.
        generators: whether to save the states of mt-tensor's default generator, of Python's
            `random` and of NumPy's `np.random`, too.
        metadata: a dictionary of strings, stored in the header; see `mt_nn.saving.read_metadata`.
        **parts: by name, objects with a state (including a `mt_tensor.Generator`), lists and
            dictionaries of them, and values that `save` supports.

    Raises:
        FileError: the file cannot be written; an existing file is unchanged.
        SettingError: `metadata` contains values that are not strings.
        StateDictError: a part cannot be saved; nothing was written.
    """
    content = {**parts, "generators": Generators()} if generators else parts
    store(content, Encoder(takes_states=True), file, metadata)


def load_checkpoint(
    file: File, /, *, generators: bool = True, backend: Any = None, **parts: Any
) -> dict[str, Any]:
    """Load the state of a training run; if a part does not fit, change nothing.

        values = load_checkpoint("run.safetensors", model=model, optimizer=optimizer)

    Args:
        file: the path of a file written by `save_checkpoint`, or by `save` for a dictionary of
            states and values; or a file object.
        generators: whether to restore the random generators, if they were saved.
        backend: the backend of tensors among the values; the current one if None. Tensors of parts
            are on the backend of the part.
        **parts: the objects to restore, by the names that were used for saving.

    Returns:
        Everything else that was saved, by name: values, and the states of other parts.

    Raises:
        FileError: the file is missing, truncated, damaged or not a checkpoint.
        SettingError: a part has no state.
        StateDictError: the checkpoint does not contain a part, or the state does not fit it.
        UnknownBackendError: the backend is unknown.
    """
    saved = fetch(file, Locations(backend=backend))
    source = os.fspath(file) if isinstance(file, (str, os.PathLike)) else "the file"
    if not isinstance(saved, dict):
        raise FileError(f"{source} is not a checkpoint: it contains a {type(saved).__name__}.")
    generator_states = saved.pop("generators", None)
    targets: list[_Target] = []
    for name, part in parts.items():
        if name not in saved:
            names = ", ".join(map(str, saved))[:200]
            raise StateDictError(
                f"{source} does not contain {name!r}; it contains {names or 'nothing'}. Use "
                "mt_nn.load() for the state of a single model."
            )
        targets.extend(_targets(name, part, saved.pop(name)))
    if generators and generator_states is not None:
        targets.extend(_targets("generators", Generators(), generator_states))
    _load_all(targets)
    return saved


class _Target(NamedTuple):
    """An object and the state to load into it.

    Attributes:
        name: the name of the object.
        get: returns its current state.
        load: loads a state.
        state: the saved state.
    """

    name: str
    get: Callable[[], Any]
    load: Callable[[Any], Any]
    state: Any


def _targets(name: str, part: Any, saved: Any) -> Iterator[_Target]:
    """Yield a part with its saved state, or each part of a list or dictionary with its own."""
    methods = state_methods(part)
    if methods is not None:
        yield _Target(name, *methods, saved)
    elif isinstance(part, (list, tuple, Mapping)):
        keys = list(part) if isinstance(part, Mapping) else range(len(part))
        items = enumerate(saved) if isinstance(saved, (list, tuple)) else ()
        states = saved if isinstance(saved, dict) else dict(items)
        if set(states) != set(keys):
            raise StateDictError(
                f"{name} was saved with parts {list(states)}, but has {list(keys)} now."
            )
        for key in keys:
            yield from _targets(f"{name}.{key}", part[key], states[key])
    else:
        raise SettingError(
            f"{name} is {reprlib.repr(part)}, which has no load_state_dict(). Do not pass values: "
            "load_checkpoint() returns them."
        )


def _load_all(targets: Sequence[_Target]) -> None:
    """Load the states of all objects; if one fails, restore the previous ones."""
    previous = [pickle.dumps(target.get()) for target in targets]  # copies, rarely unpickled
    for count, (name, _, load, state) in enumerate(targets, 1):
        try:
            load(state)
        except BaseException as error:
            for target, before in zip(targets[:count], previous, strict=False):
                target.load(pickle.loads(before))
            if not isinstance(error, Exception):
                raise
            raise StateDictError(f"the saved state does not fit {name}: {error}") from error


# --- A folder of checkpoints ----------------------------------------------------------------------


_NAME = re.compile(r"step-([0-9]+)\.safetensors")


class Checkpoints:
    """A folder of checkpoints, named by step; only one process may write to it at a time.

        checkpoints = Checkpoints("runs/mine", keep_last=2, keep_best=1)
        checkpoints.save(step, score=validation_loss, model=model, optimizer=optimizer)
        values = checkpoints.load(model=model, optimizer=optimizer)

    Args:
        folder: the folder, created if necessary.
        keep_last: the number of most recent checkpoints to keep, at least 1.
        keep_best: the number of best checkpoints to keep in addition.
        mode: whether the best score is the smallest, "min", or the largest, "max".

    Raises:
        FileError: the folder cannot be created.
        SettingError: a number or the mode is invalid.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        keep_last: int = 1,
        keep_best: int = 0,
        mode: Literal["min", "max"] = "min",
    ) -> None:
        self.keep_last = integer("keep_last", keep_last, 1)
        self.keep_best = integer("keep_best", keep_best, 0)
        choice("mode", mode, ("min", "max"))
        self.folder, self.mode = Path(folder), mode
        make_folder(self.folder)

    def paths(self) -> list[Path]:
        """Return the paths of all checkpoints, sorted by step."""
        with files_needed(f"could not list the folder {self.folder}"):
            found = [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]
        return sorted(found, key=lambda path: int(path.name[5:].split(".")[0]))

    def last(self) -> Path | None:
        """Return the checkpoint of the largest step; None if there is none."""
        return next(reversed(self.paths()), None)

    def best(self) -> Path | None:
        """Return the checkpoint with the best score (the first of equal ones), or None.

        Damaged files are skipped with a warning.
        """
        return next(iter(self._by_score(self._scores())), None)

    def _by_score(self, scores: Mapping[Path, float]) -> list[Path]:
        """Return the checkpoints that have a score, the best first."""
        scored = {path: score for path, score in scores.items() if not math.isnan(score)}
        return sorted(
            scored, key=lambda path: scored[path] if self.mode == "min" else -scored[path]
        )

    def _scores(self) -> dict[Path, float]:
        """Return the scores of undamaged checkpoints, sorted by step; nan for none."""
        scores = {}
        for path in self.paths():
            try:
                scores[path] = _score(path)
            except FileError as error:
                warnings.warn(f"skipping a checkpoint: {error}", RuntimeWarning, stacklevel=3)
        return scores

    def save(self, step: int, score: float | None = None, **parts: Any) -> Path:
        """Save a checkpoint, remove those that are no longer kept, and return its path.

        Truncated files and files with damaged headers are neither counted nor removed, and cause a
        warning.

        Args:
            step: the step, a non-negative integer; an existing checkpoint of that step is replaced.
            score: the score, if it is known; nan is never among the best.
            **parts: see `save_checkpoint`.

        Raises:
            FileError: the checkpoint cannot be written, or another one cannot be removed.
            SettingError: the step is invalid.
            StateDictError: a part cannot be saved.
        """
        step = integer("step", step, 0)
        path = self.folder / f"step-{step:08}.safetensors"
        metadata = {} if score is None else {"score": repr(float(score))}
        save_checkpoint(path, metadata=metadata, **parts)
        self._remove_others(path)
        return path

    def _remove_others(self, newest: Path) -> None:
        """Remove undamaged checkpoints that are no longer kept."""
        scores = self._scores()
        kept = {newest, *list(scores)[-self.keep_last :]}
        kept.update(self._by_score(scores)[: self.keep_best])
        with files_needed("could not remove another checkpoint"):
            for path in scores.keys() - kept:
                path.unlink(missing_ok=True)

    def load(self, which: Literal["last", "best"] = "last", **parts: Any) -> dict[str, Any]:
        """Load the last or the best checkpoint with `load_checkpoint`.

        Raises:
            FileError: the checkpoint is missing or damaged.
            SettingError: `which` is invalid.
            StateDictError: the checkpoint does not fit; nothing has changed.
        """
        choice("which", which, ("last", "best"))
        path = self.last() if which == "last" else self.best()
        if path is None:
            raise FileError(f"{self.folder} does not contain a checkpoint to load ({which}).")
        return load_checkpoint(path, **parts)


def _score(path: Path) -> float:
    """Return the score of a checkpoint; nan if it has none."""
    text = read_metadata(path).get("score", "nan")
    try:
        return float(text)
    except ValueError as error:
        raise FileError(f"{path} has the score {text!r}, which is not a number.") from error
