"""`compile(function, check=n)`: every n-th call also runs the function, and compares.

The function runs first. Then all that can be reached is put back as it was before the call, the
program runs, and what both have returned and left is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import Array
from mt_tensor.core.generator import GENERATORS
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileError
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.code_writer import MISS
from mt_tensor.programs.pytree import leaves_in
from mt_tensor.programs.replay import Replay
from mt_tensor.programs.snapshot import SLOTS, Snapshot, same

TOLERANCE = {2: 1e-2, 4: 1e-4, 8: 1e-8}
"""How much elements may differ, relative to the largest, by their number of bytes."""


class State:
    """What a function reaches before a call, with a copy of the elements of all tensors."""

    def __init__(self, function: Callable[..., Any], given: Arguments) -> None:
        tensors = [leaf for leaf in given.leaves if isinstance(leaf, Tensor)]
        self.snapshot = Snapshot([function, *given.others, *tensors])
        self.elements = [
            (tensor.backend, data, tensor.backend.copy(data, data.layout.contiguous))
            for tensor, (data, *_) in self.snapshot.tensors.values()
        ]
        self.generators = [(each, each.get_state()) for each in list(GENERATORS)]

    def restore(self) -> None:
        """Put everything back as it was."""
        for holder, copy in self.snapshot.holders:
            if isinstance(holder, (dict, set)):
                holder.clear()
                holder.update(copy)
            elif not isinstance(holder, frozenset):
                holder.clear()
                holder.extend(copy)
        for place, value in self.snapshot.slots:  # attributes, and variables of functions
            if place.can_be_set and place.get() is not value:
                place.set(value)
        for tensor, slots in self.snapshot.tensors.values():
            for name, value in zip(SLOTS, slots, strict=True):
                setattr(tensor, name, value)
        for backend, data, old in self.elements:
            backend.copy(old, data)
        for generator, state in self.generators:
            generator.set_state(state)

    def left(self, result: Any) -> dict[str, Any]:
        """Return what is there now: arrays for tensors, by what to call them in messages."""
        left = {f"result {at}": _value(leaf) for at, leaf in enumerate(leaves_in(result))}
        for number, (tensor, _) in enumerate(self.snapshot.tensors.values()):
            name = tensor.name or f"tensor {number} of shape {tuple(tensor.shape)}"
            left[name] = _value(tensor)
            left[f"grad of {name}"] = _value(tensor.grad)
        for number, (place, _) in enumerate(self.snapshot.slots):
            left[f"what is in {place} ({number})"] = _value(place.get())
        return left


def checked(function: Callable[..., Any], given: Arguments, replay: Replay) -> Any:
    """Run a function and its program from the same state, and return what the program returns.

    Returns:
        `MISS` if the program is for another state.

    Raises:
        CompileError: they differ.
    """
    state = State(function, given)
    wanted = state.left(function(*given.args, **given.kwargs))
    state.restore()
    result = replay.run(given)
    if result is not MISS:
        found = state.left(result)
        for name, value in wanted.items():
            if not _close(found.get(name), value):
                raise CompileError(
                    f"the program of {replay.program.name} differs from the function: {name} is "
                    f"{found.get(name)!r} instead of {value!r}."
                )
    return result


def _value(value: Any) -> Any:
    """Return the elements of a tensor, or of several in a tuple, and plain values themselves."""
    if isinstance(value, Tensor):
        return np.array(value._numbers())
    return tuple(map(_value, value)) if isinstance(value, tuple) else value


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_close, a, b))
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        is_value = isinstance(b, (bool, int, float, str, bytes, type(None), np.ndarray))
        return not is_value or same(a, b)
    return a.shape == b.shape and a.dtype == b.dtype and _close_elements(a, b)


def _close_elements(a: Array, b: Array) -> bool:
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    with np.errstate(all="ignore"):
        largest = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    tolerance = TOLERANCE[a.dtype.itemsize]
    return bool(np.allclose(a, b, tolerance, tolerance * largest, equal_nan=True))
