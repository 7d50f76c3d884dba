"""Nested values as JSON and arrays, and back: what a file holds beside plain tensors.

None, truth values, numbers and strings stand for themselves, and a list for a list. All else is an
object with one key, which says what stands there:

    {"tensor": name}, {"leaf": name}       a tensor, which requires grad if it is a leaf
    {"array": name}                        a NumPy array
    {"scalar": [dtype, hexadecimal]}       a number of NumPy, by its bytes, little-endian
    {"tuple": [...]}                       a tuple
    {"dict": [[key, value], ...]}          a dictionary, whose keys may be numbers
    {"ordered": [[key, value], ...]}       an OrderedDict
    {"int": hexadecimal}                   an integer of more than 64 bits
    {"float": "nan"}                       a number that JSON has not
    {"complex": [real, imaginary]}
    {"dtype": "float32"}
"""

from __future__ import annotations

import json
import math
import os
import reprlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_nn.files.limits import current_limits
from mt_nn.saving import layout
from mt_operators import StateDictError
from mt_tensor import DType, Tensor, device
from mt_tensor.backends import TensorBackend
from mt_tensor.extending import DTYPES, Array

Path = tuple[Any, ...]
"""The keys that lead to a value inside of another."""

SCALARS = {np.dtype(text).name: np.dtype(text) for text in (*layout.DTYPES.values(), "<c16")}
"""The types of NumPy's numbers that can be saved, by name."""

_PLAIN = {type(None), bool, str}
"""Types of values that stand for themselves; numbers do, too, if JSON has them."""

_KEYS = {*_PLAIN, int, float}
"""Types of keys, and of what JSON has beside lists and objects."""

_CURES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (Mapping, "dict(...)"),
    (tuple, "tuple(...)"),
    ((list, set, frozenset), "list(...)"),
    ((str, os.PathLike, device), "str(...)"),
    (int, "int(...)"),
    (float, "float(...)"),
    (np.ndarray, "an array of a plain type, numpy.asarray(...)"),
    ((bytes, bytearray, memoryview), "numpy.frombuffer(..., numpy.uint8)"),
)
"""What to save instead of values of some types."""


def state_methods(value: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]] | None:
    """Return how an object gives its state and takes one; None if it has none.

    These are `state_dict` and `load_state_dict`, or `get_state` and `set_state` of a generator.
    """
    for give, take in (("state_dict", "load_state_dict"), ("get_state", "set_state")):
        methods = getattr(value, give, None), getattr(value, take, None)
        if all(map(callable, methods)) and not isinstance(value, type):
            return methods  # type: ignore[return-value]
    return None


class Encoder:
    """Takes values apart.

    Args:
        takes_states: whether of an object that has a state, such as a module, this is taken;
            otherwise it is refused.

    Attributes:
        arrays: those that were met, by the names that stand in the JSON.
    """

    def __init__(self, takes_states: bool = False) -> None:
        self.arrays: dict[str, Array] = {}
        self._takes_states, self._depth = takes_states, current_limits().depth

    def encode(self, value: Any, path: Path = ()) -> Any:
        """Return a value as JSON's values.

        Raises:
            StateDictError: it holds something that cannot be saved, or is nested too deep.
        """
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is int:
            return value if -(2**63) <= value < 2**64 else {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is complex:
            return {"complex": [self.encode(value.real), self.encode(value.imag)]}
        if isinstance(value, Tensor):
            name = self._add(value.backend.to_host(value._tensor), path)
            return {"leaf" if value.requires_grad else "tensor": name}
        if kind is np.ndarray and value.dtype.newbyteorder("<").str in layout.KINDS:
            return {"array": self._add(value, path)}
        if isinstance(value, np.generic) and value.dtype.name in SCALARS:
            bits = value.astype(SCALARS[value.dtype.name]).tobytes().hex()
            return {"scalar": [value.dtype.name, bits]}
        return self._encode_other(value, path)

    def _encode_other(self, value: Any, path: Path) -> Any:
        """Return an dtype, or what holds other values, as JSON's values."""
        kind = type(value)
        if kind is DType:
            return {"dtype": value.name}
        if len(path) >= self._depth:
            raise StateDictError(
                f"{_shown(path[:3])} is nested more than {self._depth} levels deep, or contains "
                "itself. If that is as it should be, allow more: with mt_nn.limits(depth=...)."
            )
        if kind is list or kind is tuple:
            parts = [self.encode(part, (*path, at)) for at, part in enumerate(value)]
            return parts if kind is list else {"tuple": parts}
        if kind is dict or kind is OrderedDict:
            _check_keys(value, path)
            entries = [
                [self.encode(key), self.encode(part, (*path, key))] for key, part in value.items()
            ]
            return {"dict" if kind is dict else "ordered": entries}
        methods = state_methods(value)
        if methods is not None and self._takes_states:
            return self.encode(methods[0](), path)
        raise StateDictError(
            f"{_shown(path)} is {reprlib.repr(value)} of type {kind.__name__}, which cannot be "
            f"saved: {_cure(value)}."
        )

    def _add(self, array: Array, path: Path) -> str:
        """Enter an array under its path, or a longer name if that is taken, and return the name."""
        name = ".".join(map(str, path)).encode("utf-8", "backslashreplace").decode() or "value"
        while name in self.arrays or name == layout.METADATA:
            name += "'"
        as_in_files = array.dtype.newbyteorder("<")
        self.arrays[name] = array.astype(as_in_files, order="C", copy=False)
        return name


def _check_keys(value: dict[Any, Any], path: Path) -> None:
    for key in value:
        if type(key) not in _KEYS:
            raise StateDictError(
                f"{_shown(path)} has the key {key!r} of type {type(key).__name__}, which cannot be "
                "saved: keys are Python's strings, numbers or None."
            )


def _shown(path: Path) -> str:
    """Return a path as Python has it."""
    keys = (json.dumps(key) if isinstance(key, str) else repr(key) for key in path)
    return "value" + "".join(f"[{key}]" for key in keys)


def _cure(value: Any) -> str:
    """Return what to do about a value that cannot be saved."""
    if not isinstance(value, type):
        for name in ("state_dict", "get_state"):
            if callable(getattr(value, name, None)):
                return f"save its {name}()"
        for types, cure in _CURES:
            if isinstance(value, types):
                return f"save {cure} instead"
    return "leave it out, or make it of dictionaries, lists, tensors, arrays, numbers and strings"


class Decoder:
    """Puts values together again.

    Args:
        arrays: those that an encoder has met. Each stands for one value only, or a small file could
            fill the memory with copies, and is taken out of the dictionary.
        backend: where tensors shall live.
    """

    def __init__(self, arrays: dict[str, Array], backend: TensorBackend) -> None:
        self._arrays, self._backend = arrays, backend
        self._depth = current_limits().depth

    def decode(self, encoded: Any, depth: int = 0) -> Any:
        """Return a value.

        Raises:
            LookupError, TypeError, ValueError: no encoder has made it, or an array is missing.
        """
        if type(encoded) in _KEYS:
            return encoded
        if depth > self._depth:
            raise ValueError("it is nested too deep")
        if type(encoded) is list:
            return [self.decode(part, depth + 1) for part in encoded]
        ((kind, content),) = encoded.items()
        if kind in ("dict", "ordered"):
            entries = self._decode_entries(content, depth + 1)
            return entries if kind == "dict" else OrderedDict(entries)
        if kind == "tuple":
            return tuple([self.decode(part, depth + 1) for part in content])
        return self._decode_single(kind, content)

    def _decode_entries(self, encoded: list[list[Any]], depth: int) -> dict[Any, Any]:
        entries = {}
        for key, part in encoded:
            name = self.decode(key)
            if type(name) not in _KEYS:
                raise TypeError(f"{name!r} is no key")
            entries[name] = self.decode(part, depth)
        return entries

    def _decode_single(self, kind: str, content: Any) -> Any:
        """Return what holds no other values."""
        match kind:
            case "tensor" | "leaf":
                data = self._backend.from_host(self._arrays.pop(content))
                value = Tensor._make(data, self._backend)
                return value.requires_grad_() if kind == "leaf" else value
            case "array":
                return self._arrays.pop(content)
            case "scalar":
                name, bits = content
                (number,) = np.frombuffer(bytes.fromhex(bits), SCALARS[name])
                return number.astype(number.dtype.newbyteorder("="))
            case "int":
                return int(content, 16)
            case "float":
                return float(content)
            case "complex":
                real, imaginary = map(self.decode, content)
                return complex(real, imaginary)
            case "dtype":
                return DTYPES[content]
        raise KeyError(kind)
