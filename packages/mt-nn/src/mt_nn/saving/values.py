"""Nested values as JSON and arrays, and back: what a checkpoint holds beside plain tensors.

JSON's objects all have one key, which says what stands there:

    {"tensor": name}             a tensor, in the array of that name
    {"array": name}              a NumPy array
    {"tuple": [...]}             a tuple; a list is a list
    {"dict": [[key, value]...]}  a dictionary, whose keys may be numbers
    {"state": value}             what `state_dict()` of an object returned
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_nn.saving.layout import DTYPES
from mt_operators import StateDictError
from mt_tensor import Tensor, tensor
from mt_tensor.dtypes import Array

KEYS = (str, int, float, bool)


@dataclass
class State:
    """What `state_dict()` of an object returned."""

    value: Any


def state_methods(value: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]] | None:
    """Return how an object gives its state and takes one; None if it has none.

    These are `state_dict` and `load_state_dict`, or `get_state` and `set_state` of a generator.
    """
    for give, take in (("state_dict", "load_state_dict"), ("get_state", "set_state")):
        methods = getattr(value, give, None), getattr(value, take, None)
        if all(map(callable, methods)) and not isinstance(value, type):
            return methods  # type: ignore[return-value]
    return None


def to_json(value: Any, name: str, arrays: dict[str, Array]) -> Any:
    """Return a value as JSON's values; its tensors and arrays are added to `arrays`.

    Args:
        value: nested lists, tuples and dictionaries of tensors, arrays, numbers, strings, None, and
            of whatever has a state.
        name: what it is called.
        arrays: by the names that stand in the result.

    Raises:
        StateDictError: it holds something else.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Tensor):
        return {"tensor": _added(value.detach().numpy(), name, arrays)}
    if isinstance(value, np.ndarray):
        if value.dtype != bool and value.dtype.newbyteorder("<").str not in _ALLOWED:
            raise StateDictError(f"{name} is an array of {value.dtype}, which cannot be saved.")
        return {"array": _added(value, name, arrays)}
    methods = state_methods(value)
    if methods is not None:
        return {"state": to_json(methods[0](), name, arrays)}
    if isinstance(value, (list, tuple)):
        parts = [to_json(part, f"{name}.{at}", arrays) for at, part in enumerate(value)]
        return parts if isinstance(value, list) else {"tuple": parts}
    if isinstance(value, Mapping):
        return {"dict": [_entry(k, part, name, arrays) for k, part in value.items()]}
    raise StateDictError(
        f"{name} is {reprlib.repr(value)} of type {type(value).__name__}, which cannot be saved: "
        "leave it out, or make it of dictionaries, lists, tensors, arrays, numbers and strings, or "
        "give it methods state_dict() and load_state_dict()."
    )


_ALLOWED = {np.dtype(text).newbyteorder("<").str for text in DTYPES.values()}


def _entry(key: Any, value: Any, name: str, arrays: dict[str, Array]) -> list[Any]:
    if not isinstance(key, KEYS):
        raise StateDictError(
            f"{name} has the key {key!r} of type {type(key).__name__}, which cannot be saved: keys "
            "are strings or numbers."
        )
    return [key, to_json(value, f"{name}.{key}", arrays)]


def _added(array: Array, name: str, arrays: dict[str, Array]) -> str:
    """Enter an array under its name, or a longer one if that is taken, and return the name."""
    while name in arrays:
        name += "'"
    arrays[name] = array.astype(array.dtype.newbyteorder("<"), copy=False)  # as files have them
    return name


def from_json(found: Any, arrays: Mapping[str, Array], backend: Any) -> Any:
    """Return the value that `to_json` has taken apart; states come as `State`.

    Raises:
        KeyError, TypeError, ValueError: it was not made by `to_json`, or an array is missing.
    """
    if isinstance(found, list):
        return [from_json(part, arrays, backend) for part in found]
    if not isinstance(found, dict):
        return found
    ((kind, content),) = found.items()
    if kind == "tensor":
        return tensor(arrays[content], backend=backend)
    if kind == "array":
        return arrays[content].copy()
    if kind == "tuple":
        return tuple(from_json(part, arrays, backend) for part in content)
    if kind == "dict":
        return {key: from_json(value, arrays, backend) for key, value in content}
    if kind == "state":
        return State(from_json(content, arrays, backend))
    raise KeyError(kind)
