"""Checkpoints: all that a training needs to go on exactly where it was, in one file.

A part is anything with `state_dict()` and `load_state_dict()`: a model, an optimizer, a scheduler,
a loader; it need not be one of this package. All else are values, which are handed back. The states
of the random generators go with them, since a training that draws other numbers is another one.
"""

from __future__ import annotations

import copy
import os
import reprlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mt_nn.errors import FileError, SettingError
from mt_nn.files.writing import write_atomically
from mt_nn.saving import layout
from mt_nn.saving.layout import read_whole
from mt_nn.saving.models import checked_metadata
from mt_nn.saving.values import State, from_json, state_methods, to_json
from mt_operators import StateDictError
from mt_tensor import get_backend, get_rng_state, set_rng_state
from mt_tensor.dtypes import Array

FORMAT = "mt_nn.checkpoint 1"
_OURS = ("checkpoint", "checkpoint.values", "checkpoint.crc32")
"""What a checkpoint says of itself in the metadata: the format, the values, and a check sum."""


class Generators:
    """The random generators of the process: mt-tensor's, Python's and NumPy's older one."""

    def state_dict(self) -> dict[str, Any]:
        """Return where in their sequences they are."""
        import random

        numpy: Any = np.random.get_state(legacy=False)  # noqa: NPY002 - users may draw from it
        numpy["state"]["key"] = numpy["state"]["key"].tolist()  # no tensor could hold uint32
        return {"mt_tensor": get_rng_state(), "python": random.getstate(), "numpy": numpy}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take them there."""
        import random

        set_rng_state(state["mt_tensor"])
        random.setstate(state["python"])
        np.random.set_state(state["numpy"])  # noqa: NPY002


def save_checkpoint(
    path: str | os.PathLike[str],
    *,
    generators: bool = True,
    metadata: Mapping[str, str] | None = None,
    **parts: Any,
) -> None:
    """Save the state of a training.

        save_checkpoint("run.safetensors", model=model, optimizer=optimizer, epoch=3)

    The file is there whole or not at all. Its tensors have names as in `model.linear.weight`, under
    which other readers of safetensors find them.

    Args:
        path: the file.
        generators: whether the states of mt-tensor's default random generator, of Python's
            `random` and of NumPy's `np.random` are saved, too.
        metadata: strings by name for the header of the file, which `read_metadata` returns.
        **parts: by a name of your choice, whatever has a state, or lists and dictionaries of such;
            and values: numbers, strings, None, tensors, arrays, and lists, tuples and dictionaries
            of these. A `mt_tensor.Generator` of one's own has a state, too.

    Raises:
        FileError: it could not be written; an earlier file of that name is untouched.
        MissingPackageError: safetensors is not installed.
        SettingError: `metadata` holds something else than strings, or has a name that is taken.
        StateDictError: a part can be neither; nothing was written.
    """
    import json

    header = checked_metadata(metadata)
    taken = [name for name in _OURS if name in header]
    if taken:
        raise SettingError(f"metadata of a checkpoint cannot be called {taken[0]!r}.")
    arrays: dict[str, Array] = {}
    everything = {**parts, "generators": Generators() if generators else None}
    try:
        found = [[name, to_json(part, name, arrays)] for name, part in everything.items()]
    except RecursionError as error:
        raise StateDictError(
            "a checkpoint cannot hold what is nested without end: a value contains itself."
        ) from error
    values = json.dumps({"dict": found}, separators=(",", ":"))
    header |= dict(zip(_OURS, (FORMAT, values, _check_sum(arrays, values)), strict=True))
    write_atomically(path, layout.packed(arrays, header))


def load_checkpoint(
    path: str | os.PathLike[str], *, generators: bool = True, backend: Any = None, **parts: Any
) -> dict[str, Any]:
    """Load the state of a training. If anything does not fit, nothing changes.

        values = load_checkpoint("run.safetensors", model=model, optimizer=optimizer)

    Args:
        path: a file that `save_checkpoint` wrote.
        generators: whether the random generators go to where they were.
        backend: where tensors among the values shall live; the current backend if None. Those of
            parts live where the part has them.
        **parts: what takes over its state, under the name that it was saved by.

    Returns:
        All that was saved and not asked for, by name: values, and the states of other parts.

    Raises:
        FileError: the file is missing, truncated, damaged or no checkpoint.
        MissingPackageError: safetensors is not installed.
        SettingError: something has no state to take over.
        StateDictError: the checkpoint has no such part, or the state does not fit it.
        UnknownBackendError: there is no such backend.
    """
    saved = _read(path, get_backend(backend))
    drawn = saved.pop("generators", None)
    pairs: list[_Pair] = []
    for name, part in parts.items():
        if name not in saved:
            raise StateDictError(
                f"{os.fspath(path)} holds no {name!r}; it holds {', '.join(saved) or 'nothing'}."
            )
        pairs.extend(_pairs(name, part, saved.pop(name)))
    if generators and isinstance(drawn, State):
        pairs.extend(_pairs("generators", Generators(), drawn))
    _load_all(pairs)
    return {name: _plain(value) for name, value in saved.items()}


def _check_sum(arrays: Mapping[str, Array], values: str) -> str:
    """Return a number that nearly any damage of the file changes."""
    total = zlib.crc32(values.encode())
    for name in sorted(arrays):
        total = zlib.crc32(arrays[name].tobytes(), total)
    return f"{total:08x}"


def _read(path: str | os.PathLike[str], backend: Any) -> dict[str, Any]:
    """Return what is in a checkpoint, states as `State`."""
    import json

    arrays, metadata = layout.unpacked(read_whole(path), path)
    kind, values, check_sum = (metadata.get(name) for name in _OURS)
    if kind != FORMAT or values is None:
        raise FileError(
            f"{os.fspath(path)} is no checkpoint of this version, but "
            f"{kind or 'another safetensors file'}. A model alone is read with mt_nn.load()."
        )
    if check_sum != _check_sum(arrays, values):
        raise FileError(
            f"{os.fspath(path)} is damaged: its content is not what was saved. Take an earlier "
            "checkpoint."
        )
    try:
        return dict(from_json(json.loads(values), arrays, backend))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise FileError(f"{os.fspath(path)} is a damaged checkpoint ({error!r}).") from error


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
        if not isinstance(saved, State):
            raise StateDictError(
                f"{name} was saved as {reprlib.repr(saved)}, which is no state for a "
                f"{type(part).__name__}."
            )
        yield _Pair(name, *methods, saved.value)
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
    earlier = [copy.deepcopy(pair.give()) for pair in pairs]
    for count, (name, _, take, state) in enumerate(pairs, 1):
        try:
            take(state)
        except BaseException as error:
            for pair, before in zip(pairs[:count], earlier, strict=False):
                pair.take(before)
            if not isinstance(error, Exception):
                raise
            raise StateDictError(f"the saved state does not fit {name}: {error}") from error


def _plain(value: Any) -> Any:
    """Return a saved value in which states are what `state_dict()` had returned."""
    if isinstance(value, State):
        return _plain(value.value)
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    return value
