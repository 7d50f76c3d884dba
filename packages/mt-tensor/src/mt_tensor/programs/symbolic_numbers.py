"""Numbers of an optimizer that differ at each step: rates, step counts, averages of plain numbers.

While a program is recorded, and only while an optimizer updates, such a number is replaced by a
symbolic one, which holds the expression that computes it; a replay evaluates the expression. A
comparison returns the current result and becomes a guard: the program is valid for numbers with the
same result. Where the value itself is needed, as an index or by `math`, the guard is that value.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod
from typing import Any

from mt_tensor.core.dtypes import NumberLike, Settings
from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.comparison import same
from mt_tensor.programs.pytree import leaves_in, map_leaves
from mt_tensor.programs.slots import Slot
from mt_tensor.programs.snapshot import Snapshot
from mt_tensor.programs.tracked_settings import tracking

Guards = list[tuple[str, bool]]
"""Expressions of symbolic numbers, and their values while the program was recorded."""


@dataclass(eq=False, repr=False, slots=True)
class SymbolicNumber(NumberLike):
    """A number, and the expression that computes it.

    Attributes:
        value: the number while the program is recorded.
        code: the expression, in Python; its names are those of the program.
        guards: conditions of the program; all its numbers share one list.
    """

    value: Any
    code: str
    guards: Guards

    def specialize(self) -> Any:
        """Return the value, and make the program valid for this value only."""
        self.guards.append((f"(repr({self.code}) == {repr(self.value)!r})", True))
        return self.value

    def __bool__(self) -> bool:
        self.guards.append((f"bool({self.code})", bool(self.value)))
        return bool(self.value)

    def __neg__(self) -> SymbolicNumber:
        return SymbolicNumber(-self.value, f"(-{self.code})", self.guards)

    def __pos__(self) -> SymbolicNumber:
        return self

    def __abs__(self) -> SymbolicNumber:
        return SymbolicNumber(abs(self.value), f"abs({self.code})", self.guards)

    def _apply(
        self, symbol: str, compute: Callable[[Any, Any], Any], is_reflected: bool, other: Any
    ) -> Any:
        """Apply a Python operator to this number and another, or a tensor."""
        if isinstance(other, Tensor):
            number = self.as_tensor_like(other)
            return compute(other, number) if is_reflected else compute(number, other)
        operands = (self.value, self.code), _value_and_code(other)
        first, second = reversed(operands) if is_reflected else operands
        if first is None or second is None:
            return NotImplemented
        value, code = compute(first[0], second[0]), f"({first[1]} {symbol} {second[1]})"
        if isinstance(value, bool):  # of a comparison
            self.guards.append((code, value))
            return value
        return SymbolicNumber(value, code, self.guards)

    def _apply_to_value(self, method: str, *arguments: Any) -> Any:
        """Call a method of the value."""
        return getattr(self.specialize(), method)(*arguments)

    def as_tensor_like(self, tensor: Tensor) -> Tensor:
        """Return the number as a tensor of the dtype and the backend of another tensor."""
        is_input = tensor.is_floating_point() and not tensor.dtype.is_narrow
        return tensor._full((), self if is_input else self.specialize())  # type: ignore[arg-type]


def _value_and_code(number: Any) -> tuple[Any, str] | None:
    """Return a number and its expression; None for other types."""
    if isinstance(number, SymbolicNumber):
        return number.value, number.code
    if number.__class__ not in (bool, int, float):
        return None
    is_finite = number - number == 0
    return number, f"({number!r})" if is_finite else f"float('{number!r}')"


for _operator in (
    *("add +", "sub -", "mul *", "truediv /", "floordiv //", "mod %", "pow **"),
    *("lt <", "le <=", "gt >", "ge >=", "eq ==", "ne !="),
):
    _method, _symbol = _operator.split()
    _operands = _symbol, getattr(operator, _method)
    _forward = partialmethod(SymbolicNumber._apply, *_operands, False)
    _reflected = partialmethod(SymbolicNumber._apply, *_operands, True)
    setattr(SymbolicNumber, f"__{_method}__", _forward)
    setattr(SymbolicNumber, f"__r{_method}__", _reflected)
for _method in (
    *("float", "int", "index", "complex", "hash", "str", "repr", "format"),
    *("round", "trunc", "floor", "ceil"),
):
    _method = f"__{_method}__"
    setattr(SymbolicNumber, _method, partialmethod(SymbolicNumber._apply_to_value, _method))


def _is_numeric(value: Any) -> bool:
    """Return whether a value is a number, or a tuple of numbers."""
    values = value if type(value) is tuple and value else (value,)
    return all(type(each) in (int, float) for each in values)


def _concrete(value: Any) -> Any:
    """Return a value in which symbolic numbers are replaced by their values."""
    return map_leaves(value, lambda x: x.value if isinstance(x, SymbolicNumber) else x)


class SymbolicNumbers:
    """The numbers of optimizers that are inputs of a program, and how the program updates them.

    Attributes:
        guards: conditions of the program.
        inputs: the slots of the numbers, by `Slot.id`, with their values before the call.
        now: their values after the last step, with symbolic numbers.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.guards: Guards = []
        self.inputs: dict[Any, tuple[Slot, Any]] = {}
        self.now: dict[Any, Any] = {}
        self._settings = [x for x, _ in snapshot.holders if type(x) is Settings]
        self._symbols: dict[Any, Any] = {}  # by `Slot.id`, of the numbers before the call
        self._read: set[Any] = set()  # the `Slot.id` of numbers read outside of updates
        self._is_updating = False
        self._before = {slot.id: value for slot, value in snapshot.slots if _is_numeric(value)}
        self._count = itertools.count(1)

    @contextmanager
    def tracked(self) -> Iterator[None]:
        """Note inside a `with` block which numbers are read outside of updates.

        The program is valid for the values of these only.
        """
        with tracking(self._settings, self._note):
            yield
        for key in self._read & self._symbols.keys():
            map_leaves(self._symbols[key], SymbolicNumber.specialize)

    def _note(self, holder: Settings, keys: Iterable[Any]) -> None:
        if not self._is_updating:
            self._read.update((id(holder), key) for key in keys)

    @contextmanager
    def substituted(self, optimizer: Any) -> Iterator[None]:
        """Make the numbers of an optimizer symbolic inside a `with` block."""
        before, self._is_updating = self._is_updating, True
        for slot in _slots_of(optimizer):
            key, value = slot.id, slot.get()
            is_new = isinstance(slot.holder, Settings) and key not in self.inputs
            if is_new and key in self._before and same(value, self._before[key]):
                self.inputs[key] = slot, value
                self.now[key] = self._symbols[key] = map_leaves(value, self._symbol)
            if key in self.inputs and same(value, _concrete(self.now[key])):
                slot.set(self.now[key])
        try:
            yield
        finally:
            for slot in _slots_of(optimizer):
                value = slot.get()
                if slot.id in self.inputs:
                    self.now[slot.id] = value
                if any(isinstance(leaf, SymbolicNumber) for leaf in leaves_in(value)):
                    slot.set(_concrete(value))
            self._is_updating = before

    def _symbol(self, value: Any) -> SymbolicNumber:
        return SymbolicNumber(value, f"n{next(self._count)}", self.guards)

    def updates(self) -> list[tuple[Slot, Any]] | None:
        """Return the slots whose numbers change, or None if one changed outside of a step."""
        updates = []
        for key, (slot, before) in self.inputs.items():
            now = self.now[key]
            if not same(slot.get(), _concrete(now)):
                return None
            if not same(_concrete(now), before):
                updates.append((slot, now))
        return updates


def _slots_of(optimizer: Any) -> list[Slot]:
    """Return the slots of the settings and states of an optimizer."""
    holders = (*optimizer.param_groups, *optimizer.state.values())
    return [Slot(each, key, True) for each in holders for key in each if key != "params"]
