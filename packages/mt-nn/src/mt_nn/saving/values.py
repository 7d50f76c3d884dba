"""Encoding of nested values as JSON and arrays.

None, bools, numbers, strings and lists are encoded as in JSON, with NaN and Infinity. Everything
else is an object with one key:

    {"tensor": name}, {"leaf": name}       a tensor; a leaf requires grad
    {"array": name}                        a NumPy array
    {"scalar": [dtype, hexadecimal]}       a NumPy scalar, as little-endian bytes
    {"tuple": [...]}                       a tuple
    {"dict": [[key, value], ...]}          a dictionary, whose keys may be numbers
    {"ordered": [[key, value], ...]}       an OrderedDict
    {"complex": [real, imaginary]}
    {"dtype": "float32"}
"""

from __future__ import annotations

import json
import os
import reprlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_nn.files.limits import current_limits
from mt_nn.saving import layout
from mt_nn.saving.locations import Locations
from mt_operators import StateDictError
from mt_tensor import DType, Tensor, device
from mt_tensor.extending import DTYPES, Array

Path = tuple[Any, ...]
"""The keys of a nested value."""

SCALARS = {np.dtype(text).name: np.dtype(text) for text in (*layout.DTYPES.values(), "<c16")}
"""The dtypes of NumPy scalars that can be saved, by name."""

_PLAIN = {type(None), bool, str, int, float}
"""Types that are encoded as themselves, and may be keys of dictionaries."""

_ALTERNATIVES: tuple[tuple[type | tuple[type, ...], str], ...] = (
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
    """Return the methods of an object that return and load its state; None if it has none.

    These are `state_dict` and `load_state_dict`, or `get_state` and `set_state` of a generator.
    """
    for get, load in (("state_dict", "load_state_dict"), ("get_state", "set_state")):
        methods = getattr(value, get, None), getattr(value, load, None)
        if all(map(callable, methods)) and not isinstance(value, type):
            return methods  # type: ignore[return-value]
    return None


class Encoder:
    """Encode nested values as JSON values and arrays.

    Args:
        takes_states: whether to encode the states of objects such as modules; otherwise they are
            errors.

    Attributes:
        arrays: the arrays of encoded values, by the names in the JSON values.
    """

    def __init__(self, takes_states: bool = False) -> None:
        self.arrays: dict[str, Array] = {}
        self._takes_states, self._depth = takes_states, current_limits.get().depth

    def encode(self, value: Any, path: Path = ()) -> Any:
        """Encode a value as JSON values, and add its arrays to `arrays`.

        Raises:
            StateDictError: the value contains something that cannot be saved, or is nested too
                deeply.
        """
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is complex:
            return {"complex": [value.real, value.imag]}
        if isinstance(value, Tensor):
            name = self._add(value.backend.to_host(value._tensor), path)
            return {"leaf" if value.requires_grad else "tensor": name}
        if kind is np.ndarray and value.dtype.newbyteorder("<").str in layout.DTYPES.values():
            return {"array": self._add(value, path)}
        if isinstance(value, np.generic) and value.dtype.name in SCALARS:
            bits = value.astype(SCALARS[value.dtype.name]).tobytes().hex()
            return {"scalar": [value.dtype.name, bits]}
        return self._encode_other(value, path)

    def _encode_other(self, value: Any, path: Path) -> Any:
        """Encode a dtype, a container, or an object with a state."""
        kind = type(value)
        if kind is DType:
            return {"dtype": value.name}
        if len(path) >= self._depth:
            raise StateDictError(
                f"{_shown(path[:3])} is nested more than {self._depth} levels deep, or contains "
                "itself. To allow more levels, use mt_nn.limits(depth=...)."
            )
        if kind is list or kind is tuple:
            members = [self.encode(member, (*path, i)) for i, member in enumerate(value)]
            return members if kind is list else {"tuple": members}
        if kind is dict or kind is OrderedDict:
            _check_keys(value, path)
            entries = [
                [self.encode(key), self.encode(each, (*path, key))] for key, each in value.items()
            ]
            return {"dict" if kind is dict else "ordered": entries}
        methods = state_methods(value)
        if methods is not None and self._takes_states:
            return self.encode(methods[0](), path)
        raise StateDictError(
            f"{_shown(path)} is {reprlib.repr(value)} of type {kind.__name__}, which cannot be "
            f"saved: {_advice(value)}."
        )

    def _add(self, array: Array, path: Path) -> str:
        """Store an array under a unique name made from its path, and return the name."""
        name = ".".join(map(str, path)).encode("utf-8", "backslashreplace").decode() or "value"
        while name in self.arrays or name == layout.METADATA:
            name += "'"
        little_endian = array.dtype.newbyteorder("<")
        self.arrays[name] = array.astype(little_endian, order="C", copy=False)
        return name


def _check_keys(value: dict[Any, Any], path: Path) -> None:
    for key in value:
        if type(key) not in _PLAIN:
            raise StateDictError(
                f"{_shown(path)} has the key {key!r} of type {type(key).__name__}, which cannot be "
                "saved: use strings, numbers or None."
            )


def _shown(path: Path) -> str:
    """Return a path in Python's syntax."""
    keys = (json.dumps(key) if isinstance(key, str) else repr(key) for key in path)
    return "value" + "".join(f"[{key}]" for key in keys)


def _advice(value: Any) -> str:
    """Return advice for a value that cannot be saved."""
    if not isinstance(value, type):
        for name in ("state_dict", "get_state"):
            if callable(getattr(value, name, None)):
                return f"save its {name}()"
        for types, alternative in _ALTERNATIVES:
            if isinstance(value, types):
                return f"save {alternative} instead"
    return "remove it, or convert it to dictionaries, lists, tensors, arrays, numbers and strings"


class Decoder:
    """Decode values from JSON values and arrays.

    Args:
        arrays: the arrays of an encoder. Each may be used once, and is then removed; otherwise a
            small file could fill the memory with copies.
        locations: the choice of the backends of tensors.
    """

    def __init__(self, arrays: dict[str, Array], locations: Locations) -> None:
        self._arrays, self._locations = arrays, locations
        self._depth = current_limits.get().depth

    def decode(self, encoded: Any, depth: int = 0) -> Any:
        """Decode a value from JSON values.

        Raises:
            LookupError, TypeError, ValueError: the encoding is invalid, or an array is missing.
        """
        if type(encoded) in _PLAIN:
            return encoded
        if depth > self._depth:
            raise ValueError(
                f"a value is nested more than {self._depth} levels deep; mt_nn.limits(depth=...) "
                "allows more"
            )
        if type(encoded) is list:
            return [self.decode(member, depth + 1) for member in encoded]
        ((kind, content),) = encoded.items()
        if kind in ("dict", "ordered"):
            entries = self._decode_entries(content, depth + 1)
            return entries if kind == "dict" else OrderedDict(entries)
        if kind == "tuple":
            return tuple([self.decode(member, depth + 1) for member in content])
        return self._decode_single(kind, content)

    def _decode_entries(self, encoded: list[list[Any]], depth: int) -> dict[Any, Any]:
        entries = {}
        for encoded_key, value in encoded:
            key = self.decode(encoded_key)
            if type(key) not in _PLAIN:
                raise TypeError(f"{key!r} is not a valid key")
            entries[key] = self.decode(value, depth)
        return entries

    def _decode_single(self, kind: str, content: Any) -> Any:
        """Decode a value that is not a container."""
        match kind:
            case "tensor" | "leaf":
                array, backend = self._arrays.pop(content), self._locations.backend_of()
                value = Tensor._make(backend.from_host(array), backend)
                return value.requires_grad_() if kind == "leaf" else value
            case "array":
                return self._arrays.pop(content)
            case "scalar":
                name, bits = content
                (number,) = np.frombuffer(bytes.fromhex(bits), SCALARS[name])
                return number.astype(number.dtype.newbyteorder("="))
            case "complex":
                real, imaginary = content
                return complex(real, imaginary)
            case "dtype":
                return DTYPES[content]
        raise KeyError(kind)
