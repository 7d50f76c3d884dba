"""Record the calls in the rows of a sample table, from which programs are derived.

A row is a function of tensors. It is run with tensors and a library that record all calls with
their arguments. This shows how every operation is called, and with which settings.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

import mt_tensor as mt
from mt.fuzz.programs import IN_PLACE_OPERATORS, OPERATORS, Source
from mt_tensor.core.dtypes import Array
from mt_tensor.testing.elsewhere import elsewhere


@dataclass(frozen=True, eq=False)
class Operand:
    """A tensor of a sample.

    Attributes:
        array: its elements.
        argument: the index of the row's argument; None if the row has computed it.
    """

    array: Array
    argument: int | None = None


@dataclass(eq=False)
class Sample:
    """A call that is known to be valid, or to raise: programs vary it.

    Attributes:
        form: its form; see `Step`.
        args: positional arguments, with an `Operand` for each tensor.
        settings: keyword arguments.
        oracle: a function from the arguments of its row, as float64 arrays, to its result; None if
            the row does not define it.
    """

    form: str
    args: tuple[Any, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    oracle: Callable[..., Any] | None = None


def recorded(call: Callable[..., Any], arrays: Sequence[Array]) -> list[Sample]:
    """Return the calls that a row makes on arrays, up to one that raises."""
    log: list[Sample] = []
    function = elsewhere(call, RecordingLibrary(mt, "torch", log))
    given = [Recorded(mt.tensor(array), log, i) for i, array in enumerate(arrays)]
    with contextlib.suppress(Exception):  # the row may be an invalid call
        function(*given)
    return log


class RecordingLibrary:
    """A library, or a module of it, that records calls of its functions."""

    def __init__(self, module: Any, name: str, log: list[Sample]) -> None:
        self._module, self._name, self._log = module, name, log

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._module, name)
        if isinstance(member, ModuleType):
            return RecordingLibrary(member, f"{self._name}.{name}", self._log)
        if not callable(member) or isinstance(member, type):
            return member
        return _noting(f"{self._name}.{name}()", member, self._log)


class Recorded:
    """A tensor that records calls of its methods."""

    __array_ufunc__ = None

    def __init__(self, tensor: mt.Tensor, log: list[Sample], argument: int | None = None) -> None:
        self._tensor, self._log, self._argument = tensor, log, argument

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._tensor, name)
        if name in _PLAIN:
            return member
        if callable(member):
            method = getattr(type(self._tensor), name)
            return lambda *args, **kw: _noting(f".{name}()", method, self._log)(self, *args, **kw)
        return _noting(f".{name}", lambda x: getattr(x, name), self._log)(self)

    def __getitem__(self, index: Any) -> Any:
        return _noting("[]", mt.Tensor.__getitem__, self._log)(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _noting("[]=", mt.Tensor.__setitem__, self._log)(self, index, value)

    def __abs__(self) -> Any:
        return self.abs()

    def __len__(self) -> int:
        return len(self._tensor)

    def __bool__(self) -> bool:
        return bool(self._tensor)


_PLAIN = ("shape", "ndim", "dtype", "backend", "size", "numel", "dim")
"""Attributes that rows only use to compute other arguments."""


def _operator(form: str, name: str) -> Callable[..., Any]:
    def noted(self: Recorded, *other: Any) -> Any:
        return _noting(form, getattr(mt.Tensor, name), self._log)(self, *other)

    return noted


def _turned(form: str, name: str) -> Callable[..., Any]:
    def noted(self: Recorded, other: Any) -> Any:
        method = getattr(mt.Tensor, name)
        return _noting(form, lambda a, b: method(b, a), self._log)(other, self)

    return noted


_METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift", "<": "lt",
    "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge", "-x": "neg", "+x": "pos",
    "~x": "invert",
}  # fmt: skip

for _form in OPERATORS:
    _name = f"__{_METHODS[_form]}__"
    setattr(Recorded, _name, _operator(_form, _name))
    if hasattr(mt.Tensor, f"__r{_METHODS[_form]}__"):
        setattr(Recorded, f"__r{_METHODS[_form]}__", _turned(_form, f"__r{_METHODS[_form]}__"))
for _form in IN_PLACE_OPERATORS:
    _name = f"__i{_METHODS[_form[:-1]]}__"
    if hasattr(mt.Tensor, _name):
        setattr(Recorded, _name, _operator(_form, _name))


def _noting(form: str, function: Callable[..., Any], log: list[Sample]) -> Callable[..., Any]:
    """Wrap a function to record its arguments, and to wrap its results."""

    def noting(*args: Any, **settings: Any) -> Any:
        if form != "torch.tensor()":
            kept = {key: value for key, value in settings.items() if key != "backend"}
            log.append(Sample(form, _as_data(args), _as_data(kept)))
        result = function(*_unwrapped(args), **_unwrapped(settings))
        same = [arg for arg in args if isinstance(arg, Recorded) and arg._tensor is result]
        return same[0] if same else _wrapped(result, log)

    return noting


def _as_data(value: Any) -> Any:
    if isinstance(value, Recorded):
        return Operand(np.array(value._tensor.detach()), value._argument)
    if isinstance(value, mt.Tensor):
        return Operand(np.array(value.detach()))
    if isinstance(value, mt.DType):
        return Source(f"torch.{value.name}")
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, slice):
        return slice(_as_data(value.start), _as_data(value.stop), _as_data(value.step))
    return _each(_as_data, value)


def _unwrapped(value: Any) -> Any:
    return value._tensor if isinstance(value, Recorded) else _each(_unwrapped, value)


def _wrapped(value: Any, log: list[Sample]) -> Any:
    if isinstance(value, mt.Tensor):
        return Recorded(value, log)
    return _each(lambda part: _wrapped(part, log), value)


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to the elements of a container; return other values unchanged."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(function, value))
    if isinstance(value, tuple | list):
        return type(value)(map(function, value))
    if isinstance(value, dict):
        return {key: function(part) for key, part in value.items()}
    return value
