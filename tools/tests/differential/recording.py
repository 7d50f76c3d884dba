"""Record the calls in the rows of a sample table, from which programs are derived.

A row is a function of tensors. It is run with tensors and a library that record all calls with
their arguments. This shows how every operation is called, and with which settings.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

import mt_tensor as mt
from differential.programs import OPERATORS, Elements, Source, mapped
from mt_tensor.core.dtypes import Array
from mt_tensor.testing.libraries import with_library


@dataclass(eq=False)
class Sample:
    """A call that is known to be valid, or to raise: programs vary it.

    Attributes:
        form: its form; see `Step`.
        args: positional arguments, with an `Elements` for each tensor.
        settings: keyword arguments.
    """

    form: str
    args: tuple[Any, ...]
    settings: dict[str, Any] = field(default_factory=dict)


def recorded(call: Callable[..., Any], arrays: Sequence[Array]) -> list[Sample]:
    """Return the calls that a row makes on arrays, up to one that raises."""
    log: list[Sample] = []
    function = with_library(call, RecordingLibrary(mt, "torch", log))
    with contextlib.suppress(Exception):  # the row may be an invalid call
        function(*(Recorded(mt.tensor(array), log) for array in arrays))
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
        return _recording(f"{self._name}.{name}()", member, self._log)


class Recorded:
    """A tensor that records calls of its methods."""

    __array_ufunc__ = None

    def __init__(self, tensor: mt.Tensor, log: list[Sample]) -> None:
        self._tensor, self._log = tensor, log

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._tensor, name)
        if name in _PLAIN:
            return member
        if callable(member):
            method = getattr(type(self._tensor), name)
            return functools.partial(_recording(f".{name}()", method, self._log), self)
        return _recording(f".{name}", lambda x: getattr(x, name), self._log)(self)

    def __getitem__(self, index: Any) -> Any:
        return _recording("[]", mt.Tensor.__getitem__, self._log)(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _recording("[]=", mt.Tensor.__setitem__, self._log)(self, index, value)

    def __abs__(self) -> Any:
        return self.abs()

    def __len__(self) -> int:
        return len(self._tensor)

    def __bool__(self) -> bool:
        return bool(self._tensor)


_PLAIN = ("shape", "ndim", "dtype", "backend", "size", "numel", "dim")
"""Attributes that rows only use to compute other arguments."""


_METHODS = """
    add sub mul truediv floordiv mod pow matmul and or xor lshift rshift lt le eq ne gt ge
    neg pos invert
"""
"""Python's names of the methods of operators, in the order of `OPERATORS`."""


def _record_operators() -> None:
    """Add the methods of Python's operators to `Recorded`."""
    for form, name in zip(OPERATORS, _METHODS.split(), strict=True):
        for method, written in ((name, form), (f"r{name}", form), (f"i{name}", f"{form}=")):
            if hasattr(mt.Tensor, f"__{method}__"):
                _record_operator(f"__{method}__", written, reverse=method == f"r{name}")


def _record_operator(name: str, form: str, reverse: bool) -> None:
    method = getattr(mt.Tensor, name)

    def forward(self: Recorded, *other: Any) -> Any:
        return _recording(form, method, self._log)(self, *other)

    def backward(self: Recorded, other: Any) -> Any:
        return _recording(form, lambda a, b: method(b, a), self._log)(other, self)

    setattr(Recorded, name, backward if reverse else forward)


def _recording(form: str, function: Callable[..., Any], log: list[Sample]) -> Callable[..., Any]:
    """Wrap a function to record its arguments, and to wrap its results."""

    def call(*args: Any, **settings: Any) -> Any:
        if form != "torch.tensor()":
            kept = {key: value for key, value in settings.items() if key != "backend"}
            log.append(Sample(form, _as_data(args), _as_data(kept)))
        plain = mapped((args, settings), Recorded, lambda x: x._tensor)
        result = function(*plain[0], **plain[1])
        same = [arg for arg in args if isinstance(arg, Recorded) and arg._tensor is result]
        return same[0] if same else mapped(result, mt.Tensor, lambda x: Recorded(x, log))

    return call


def _as_data(value: Any) -> Any:
    """Return arguments as those of samples."""
    return mapped(value, (Recorded, mt.Tensor, mt.DType, np.generic, slice), _part_as_data)


def _part_as_data(value: Any) -> Any:
    if isinstance(value, Recorded):
        return Elements(np.array(value._tensor.detach()))
    if isinstance(value, mt.Tensor):
        return Elements(np.array(value.detach()))
    if isinstance(value, mt.DType):
        return Source(f"torch.{value.name}")
    if isinstance(value, slice):
        return slice(*_as_data((value.start, value.stop, value.step)))
    return value.item()


_record_operators()
