"""Checkpoints: all that a training needs to go on exactly where it was, in one file.

A part is anything with `state_dict()` and `load_state_dict()`: a model, an optimizer, a scheduler,
a loader; it need not be one of this package. All else are values, which are handed back. The states
of the random generators go with them, since a training that draws other numbers is another one.
"""

from __future__ import annotations

import operator
import os
import pickle
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mt_nn.errors import FileError, SettingError
from mt_nn.saving.objects import File, fetch, store
from mt_nn.saving.values import Encoder, state_methods
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
