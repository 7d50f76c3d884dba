"""`compile(function, check=n)`: every n-th replay is compared with the function.

The function runs first. Its side effects are undone, the program runs from the same state, and the
results and side effects of the two are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_tensor.core.generator import GENERATORS
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileError
from mt_tensor.programs.arguments import Arguments
from mt_tensor.programs.code_writer import MISS
from mt_tensor.programs.comparison import same
from mt_tensor.programs.pytree import leaves_in
from mt_tensor.programs.replay import Replay
from mt_tensor.programs.snapshot import TENSOR_SLOTS, Snapshot

TOLERANCE = {2: 1e-2, 4: 1e-4, 8: 1e-8}
"""The largest difference relative to the largest element, by the bytes of an element."""


class State:
    """The state that a function can reach before a call, with copies of all elements."""

    def __init__(
        self, function: Callable[..., Any], given: Arguments, static: Sequence[Any]
    ) -> None:
        self.snapshot = Snapshot(function, given.leaves, static)
        self.elements = [
            (tensor.backend, data, tensor.backend.copy(data, data.layout.contiguous))
            for tensor, (data, *_) in self.snapshot.tensors.values()
        ]
        self.generators = [(each, each.get_state()) for each in list(GENERATORS)]

    def restore(self) -> None:
        """Restore the state."""
        self.snapshot.restore()
        for tensor, slots in self.snapshot.tensors.values():
            for name, value in zip(TENSOR_SLOTS, slots, strict=True):
                setattr(tensor, name, value)
        for backend, data, old in self.elements:
            backend.copy(old, data)
        for generator, state in self.generators:
            generator.set_state(state)

    def outcome(self, result: Any) -> dict[str, Any]:
        """Return a result and the current state as arrays and plain values, by description."""
        found = {f"result {at}": _value(leaf) for at, leaf in enumerate(leaves_in(result))}
        for number, (tensor, _) in enumerate(self.snapshot.tensors.values()):
            name = tensor.name or f"tensor {number} of shape {tuple(tensor.shape)}"
            found[name] = _value(tensor)
            found[f"grad of {name}"] = _value(tensor.grad)
        for number, (slot, _) in enumerate(self.snapshot.slots):
            found[f"the value of {slot} ({number})"] = _value(slot.get())
        return found


def run_checked(
    function: Callable[..., Any], given: Arguments, static: Sequence[Any], replay: Replay
) -> Any:
    """Run a function and its program from the same state; return the result of the program.

    Returns:
        `MISS` if the program is not valid for the state.

    Raises:
        CompileError: the two differ.
    """
    state = State(function, given, static)
    expected = state.outcome(function(*given.args, **given.kwargs))
    state.restore()
    result = replay.run(given)
    if result is not MISS:
        found = state.outcome(result)
        for name, value in expected.items():
            if not _close(found.get(name), value):
                raise CompileError(
                    f"the program of {replay.program.name} differs from the function: {name} is "
                    f"{found.get(name)!r} instead of {value!r}."
                )
    return result


def _value(value: Any) -> Any:
    """Return a value with NumPy arrays in place of tensors."""
    if isinstance(value, Tensor):
        return np.array(value._numbers())
    return tuple(map(_value, value)) if isinstance(value, tuple) else value


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_close, a, b))
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        is_value = isinstance(b, (bool, int, float, str, bytes, type(None), np.ndarray))
        return not is_value or same(a, b)
    if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind != "f":
        return a.dtype == b.dtype and np.array_equal(a, b)
    with np.errstate(all="ignore"):
        largest = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    tolerance = TOLERANCE[a.dtype.itemsize]
    return bool(np.allclose(a, b, tolerance, tolerance * largest, equal_nan=True))
