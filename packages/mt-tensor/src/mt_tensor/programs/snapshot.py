"""The state that a function can reach besides its arguments, and how it has changed.

A training step reads the flag `training` of modules, the rate of an optimizer, a number in a
variable; it counts steps, and assigns gradients. All of these are in slots: items of dictionaries
and lists, attributes, variables of functions. A snapshot visits every slot that a function can
reach, as far as it belongs to users or to this project, and keeps its value. It determines the
guards of a program, and the side effects that a replay repeats.
"""

from __future__ import annotations

import functools
import itertools
import operator
import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from functools import _lru_cache_wrapper
from typing import Any

import numpy as np

from mt_tensor.core.generator import Generator
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileError
from mt_tensor.programs.comparison import (
    BY_IDENTITY,
    CONSTANT,
    VARYING,
    WRITE_ONLY,
    has_visible_attributes,
    is_user_source,
    same,
    same_items,
)
from mt_tensor.programs.slots import MISSING, Slot, codes_in, free_variables, plain_function
from mt_tensor.programs.storages import storage_key
from mt_tensor.programs.user_code import is_user_module

MAX_ITEM_GUARDS = 1000
"""Longer lists and dictionaries of plain values have one guard instead of one per item."""

MAX_ITEMS = 100_000
"""Longer containers and larger arrays are an error: comparing them would take too long."""

FREED = object()
"""A gradient that the function has freed."""


class Snapshot:
    """The values of all slots that a function and its arguments lead to.

    Attributes:
        slots: the slots, with their values.
        holders: dictionaries, lists and the like, with a copy of each.
        tensors: the tensors by identity, each with its `TENSOR_SLOTS`.
        long_containers: long lists and dictionaries of plain values, with their values.
        arrays: NumPy arrays, with their bytes.
        outer: the slot of each tuple, by the identity of the tuple.
        namespaces: the identities of dictionaries of attributes, whose order is not compared.
        generators: the generators of random numbers.
    """

    def __init__(self, function: Any, given: Iterable[Any], static: Iterable[Any] = ()) -> None:
        """Visit all slots that a compiled function and its arguments lead to.

        Args:
            function: the function. Its global variables are always visited; those of other
                functions are not visited if an installed library defines the function.
            given: the arguments.
            static: objects that are not visited.
        """
        self.slots: list[tuple[Slot, Any]] = []
        self.holders: list[tuple[Any, Any]] = []
        self.tensors: dict[int, tuple[Tensor, tuple[Any, ...]]] = {}
        self.long_containers: list[tuple[Any, Any]] = []
        self.arrays: list[tuple[Any, bytes]] = []
        self.namespaces: set[int] = set()
        self.generators: set[Generator] = set()
        self.outer: dict[int, Slot] = {}
        self._forgotten: dict[Any, list[Any]] = {}  # gradients and their states, by `storage_key`
        self._kept: list[Any] = []
        # By identity, which is unique while a value is alive.
        self._seen: dict[int, Any] = {id(each): each for each in static}
        self._compiled = plain_function(function)
        self._waiting: deque[Any] = deque([function, *given])
        while self._waiting:
            self._visit(self._waiting.popleft())

    def _visit(self, value: Any) -> None:  # noqa: PLR0912 - one for each type
        if isinstance(value, Generator):
            self.generators.add(value)
        if id(value) in self._seen or isinstance(value, BY_IDENTITY):
            return
        if isinstance(value, CONSTANT) and not is_user_module(type(value).__module__):
            return
        self._seen[id(value)] = value
        if isinstance(value, Tensor):
            self.tensors[id(value)] = value, slots_of(value)
            self._waiting.extend((value._grad, value._hooks))  # hooks are functions, too
            self._waiting.append(getattr(value, "__dict__", None) or None)  # of a subclass
        elif isinstance(value, dict):
            self.holders.append((value, dict(value)))
            if self._has_slots(value, value.values()):
                for key, item in value.items():
                    self._add(Slot(value, key, True), item)
                self._waiting.extend(value)
        elif isinstance(value, (list, tuple, deque)):
            if not isinstance(value, tuple):
                self.holders.append((value, list(value)))
            if self._has_slots(value, value):
                for position, item in enumerate(value):
                    self._add(Slot(value, position, True), item)
        elif isinstance(value, (set, frozenset)):
            if not isinstance(value, frozenset):
                self.holders.append((value, list(value)))
            self._waiting.extend(value if self._has_slots(value, value) else ())
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.MethodType):
            self._waiting.extend((value.__self__, value.__func__))
        elif isinstance(value, functools.partial):
            for name in ("func", "args", "keywords"):
                self._add_attribute(value, name)
        elif isinstance(value, property):
            self._waiting.append(value.fget)
        elif isinstance(value, functools.cached_property):
            self._waiting.append(value.func)
        elif hasattr(type(value), "program_of"):  # compiled
            self._waiting.append(value.function)
        elif isinstance(value, _lru_cache_wrapper):
            self._waiting.append(value.__wrapped__)
        elif isinstance(value, np.ndarray):
            _check_length("an array", value.size)
            self.arrays.append((value, value.tobytes()))
            self._waiting.extend(value.flat if value.dtype.hasobject else ())
        elif isinstance(value, type):
            self._class(value)
        is_object = not isinstance(value, (Tensor, type)) and not hasattr(type(value), "program_of")
        if is_object and has_visible_attributes(value):
            self._object(value)

    def _add_attribute(self, holder: Any, name: str) -> None:
        slot = Slot(holder, name, False)
        value = slot.get()
        if value is not MISSING:
            self._add(slot, value)

    def _add(self, slot: Slot, value: Any) -> None:
        is_known = id(value) in self._seen or isinstance(value, (Tensor, *WRITE_ONLY))
        if isinstance(value, VARYING) and not is_known:
            raise CompileError(
                f"a compiled function can reach an object of type {type(value).__name__}, which "
                f"{slot} holds. A program cannot check whether it has changed: keep it elsewhere "
                "or declare it static: compile(..., static=[...])."
            )
        self._add_variable(slot, value)

    def _add_variable(self, slot: Slot, value: Any) -> None:
        self.slots.append((slot, value))
        if isinstance(value, tuple):
            self.outer.setdefault(id(value), slot)
        self._waiting.append(value)

    def _has_slots(self, holder: Any, items: Iterable[Any]) -> bool:
        """Return whether each item is a slot; a long container of plain values has none."""
        if len(holder) <= MAX_ITEM_GUARDS:
            return True
        _check_length(f"a {type(holder).__name__}", len(holder))
        if not all(isinstance(item, CONSTANT) for item in items):
            return True
        if isinstance(holder, (dict, list, deque)):
            self.long_containers.append((holder, list(items)))
        return False

    def _function(self, function: types.FunctionType) -> None:
        """Visit the free variables of a function, its defaults and its attributes."""
        is_compiled = function is self._compiled and is_user_module(function.__module__)
        is_users = is_compiled or is_user_source(function.__module__)
        names = {name for code in codes_in(function.__code__) for name in code.co_names}
        variables = [slot for _, slot in free_variables(function, is_users)]
        modules: dict[int, Any] = {}
        for slot in variables:
            value = slot.get()
            if isinstance(value, types.ModuleType):
                if id(value) not in modules and is_user_source(value.__name__):
                    modules[id(value)] = inside = vars(value)
                    used = sorted(names & inside.keys())
                    variables += [Slot(inside, name, True) for name in used]
            elif value is not MISSING:
                self._add_variable(slot, value)
        for name in ("__code__", "__defaults__", "__kwdefaults__") if is_users else ():
            self._add_attribute(function, name)
        self._waiting.extend([function.__dict__] if is_users or function.__dict__ else ())

    def _object(self, value: Any) -> None:
        """Visit the attributes of an object, and its class."""
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            self.namespaces.add(id(attributes))
            self._waiting.append(attributes)
        for base in type(value).__mro__:
            for name, item in list(vars(base).items()):
                if isinstance(item, types.MemberDescriptorType):  # of `__slots__`
                    self._add_attribute(value, name)
        self._add_attribute(value, "__class__")

    def _class(self, kind: type) -> None:
        """Visit the attributes, the methods and the bases of a user's class."""
        self._waiting.extend(kind.__bases__)
        for name, item in list(vars(kind).items()) if is_user_source(kind.__module__) else ():
            slot = Slot(kind, name, False)
            is_compared = name[:2] != "__" or isinstance(item, types.FunctionType)
            if is_compared and (value := slot.get()) is not MISSING:
                self._add_variable(slot, value)

    # --- During the call ------------------------------------------------------------------------

    def forget_gradients(self) -> None:
        """Refer to gradients weakly, so that the function can free those that it does not read."""
        for key, (tensor, (data, gradient, *rest)) in list(self.tensors.items()):
            if gradient is None:
                continue
            self.tensors[key] = tensor, (data, weakref.ref(gradient), *rest)
            if self._seen.pop(id(gradient), None) is not None:
                elements, *state = slots_of(gradient)
                forgotten = self._forgotten.setdefault(storage_key(elements.storage), [])
                forgotten.append((weakref.ref(gradient), weakref.ref(elements), state))
        for gradient, *_ in itertools.chain(*self._forgotten.values()):
            self.tensors.pop(id(gradient()), None)

    def keep_gradients(self, key: Any) -> None:
        """Keep the gradients in a storage, which the function reads."""
        found = [(gradient(), elements()) for gradient, elements, _ in self._forgotten.get(key, ())]
        self._kept.append(found)

    def find_gradients(self) -> None:
        """Refer strongly again to the gradients that the function has not freed."""
        for reference, elements, state in itertools.chain(*self._forgotten.values()):
            gradient = reference()
            if gradient is not None:
                self._seen[id(gradient)] = gradient
                self.tensors[id(gradient)] = gradient, (elements(), *state)
        for key, (tensor, (data, gradient, *rest)) in self.tensors.items():
            if isinstance(gradient, weakref.ref):
                found = gradient()
                self.tensors[key] = tensor, (data, FREED if found is None else found, *rest)
        self._forgotten.clear()
        self._kept.clear()

    # --- After the call -------------------------------------------------------------------------

    def has_seen(self, value: Any) -> bool:
        """Return whether the snapshot has visited an object."""
        return id(value) in self._seen

    def release(self) -> None:
        """Drop the states of tensors, which keep memory alive; slots can still be compared."""
        self.tensors.clear()
        self._seen.clear()

    def changed(self) -> Iterator[tuple[Slot, Any, Any]]:
        """Yield the slots whose values have changed, with the old and the new value."""
        for slot, value in self.slots:
            now = slot.get()
            if not same(now, value):
                yield slot, value, now

    def restore(self) -> None:
        """Restore the slots and containers."""
        for holder, copy in self.holders:
            holder.clear()
            (holder.update if isinstance(holder, (dict, set)) else holder.extend)(copy)
        for slot, value in self.slots:  # attributes, and variables of functions
            if slot.get() is not value:
                slot.set(value)

    def changed_container(self) -> Any:
        """Return a container whose length, keys or unvisited items have changed, or None."""
        for holder, items in self.long_containers:
            if not same_items(holder.values() if isinstance(holder, dict) else holder, items):
                return holder
        for holder, copy in self.holders:
            if len(holder) != len(copy) or (self.is_keyed(holder) and not same_items(holder, copy)):
                return holder
            if id(holder) in self.namespaces and holder.keys() != copy.keys():
                return holder
        return next((each for each, old in self.arrays if each.tobytes() != old), None)

    def is_keyed(self, holder: Any) -> bool:
        """Return whether a container has keys whose order is compared: a dictionary or set."""
        return isinstance(holder, (dict, set)) and id(holder) not in self.namespaces


TENSOR_SLOTS = ("_tensor", "_grad", "_requires_grad", "_node", "_base", "_hooks", "name")
"""The attributes of a tensor that are compared: elements, autograd state and name."""

slots_of = operator.attrgetter(*TENSOR_SLOTS)


def _check_length(what: str, length: int) -> None:
    """Raise CompileError if a container has too many items to compare them at each call."""
    if length > MAX_ITEMS:
        raise CompileError(
            f"a compiled function can reach {what} of {length} items, more than a program compares "
            f"({MAX_ITEMS}): keep it elsewhere, or make it a tensor."
        )
