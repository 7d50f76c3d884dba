"""The state that a function reaches beside its arguments, and what has changed in it.

A step of training reads the flag `training` of modules, a rate of an optimizer, a number in a
variable of the function; it counts steps, and puts gradients into parameters. All of that lies in
places: items of dictionaries and lists, attributes, variables of functions. A snapshot goes through
every place that can be reached from a function, as far as it belongs to users or to this project,
and keeps what was in it. From it come the guards of a program, and the changes that it has to make.
"""

from __future__ import annotations

import contextlib
import dis
import enum
import functools
import io
import logging
import operator
import re
import sys
from argparse import Namespace
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import _lru_cache_wrapper
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any
from uuid import UUID

import numpy as np

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.generator import Generator
from mt_tensor.core.plans import Cache
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import CompileError
from mt_tensor.programs.pytree import PLAIN, leaves_in
from mt_tensor.programs.user_code import is_user_module

MANY = 1000
"""The items of a longer list or dictionary are compared all at once, if they are plain values."""

MOST = 100_000
"""A longer list or dictionary, or an array with more elements, is refused: it would take too long
to compare."""

MISSING = object()
"""The content of a place that is not there."""

CONSTANT = (
    *PLAIN, enum.Enum, range, slice, EllipsisType, np.generic, np.dtype, np.ufunc, Decimal,
    Fraction, date, time, timedelta, UUID, PurePath, re.Pattern,
)  # fmt: skip
"""What never changes, and is compared by value."""

SILENT = (logging.Logger, io.IOBase)
"""What a function only writes to, which happens while it is recorded."""

CLOSED = (BuiltinFunctionType, Cache, Generator, TensorBackend)
"""What is compared by identity; caches of plans never change a result."""


class Slot:
    """Where something lies: under a key of a dictionary or list, or in an attribute.

    Attributes:
        holder: what has the place.
        key: of a dictionary or list; or the name of an attribute.
        is_item: whether it is a key.
    """

    __slots__ = ("holder", "is_item", "key")

    def __init__(self, holder: Any, key: Any, is_item: bool) -> None:
        self.holder = holder
        self.key = key
        self.is_item = is_item

    @property
    def id(self) -> Any:
        """The identity of the place, as long as its holder is alive."""
        key = self.key
        return id(self.holder), key if isinstance(key, (str, int, tuple)) else id(key)

    def get(self) -> Any:
        """Return what is there."""
        try:
            return self.holder[self.key] if self.is_item else getattr(self.holder, self.key)
        except (KeyError, IndexError, AttributeError, ValueError):
            return MISSING

    def set(self, value: Any) -> None:
        """Put something there."""
        if self.is_item:
            self.holder[self.key] = value
        else:
            setattr(self.holder, self.key, value)

    @property
    def can_be_set(self) -> bool:
        """Whether something else can be put there."""
        return not isinstance(self.holder, (tuple, frozenset))

    def __str__(self) -> str:
        """Show the key."""
        return repr(self.key) if isinstance(self.key, (str, int)) else type(self.key).__name__


class Snapshot:
    """What lay in every place that can be reached from some roots.

    Attributes:
        slots: the places, with what was in them.
        holders: dictionaries, lists and the like, with a copy of each.
        tensors: the tensors, each once, with its slots.
        rows: long lists and dictionaries of plain values, with a copy of each.
        within: where a tuple lies, by its identity.
        namespaces: the dictionaries of attributes, by identity; their order means nothing.
    """

    def __init__(self, roots: list[Any]) -> None:
        self.slots: list[tuple[Slot, Any]] = []
        self.holders: list[tuple[Any, Any]] = []
        self.tensors: dict[int, tuple[Tensor, tuple[Any, ...]]] = {}
        self.rows: list[tuple[Any, Any]] = []
        self.namespaces: set[int] = set()
        self.outer: dict[int, Slot] = {}
        self._seen: set[int] = set()
        self._classes: set[int] = set()
        self._kept: list[Any] = []  # what is seen stays alive, and so keeps its address
        self._waiting: deque[Any] = deque(roots)
        while self._waiting:
            self._visit(self._waiting.popleft())

    def _visit(self, value: Any) -> None:  # noqa: PLR0912 - one for each kind
        if id(value) in self._seen or isinstance(value, (*CONSTANT, *CLOSED)):
            return
        self._seen.add(id(value))
        self._kept.append(value)
        if isinstance(value, Tensor):
            self.tensors[id(value)] = value, slots_of(value)
            if value._grad is not None:
                self._waiting.append(value._grad)
            if value._watch is not None:  # hooks are functions like others
                self._waiting.append(value._watch)
        elif isinstance(value, dict):
            self._hold(value, dict(value))
            for key in value if self._lists_items(value, value.values()) else ():
                self._note(Slot(value, key, True), value[key])
                if not isinstance(key, CONSTANT):
                    self._waiting.append(key)
        elif isinstance(value, (list, tuple, deque)):
            self._sequence(value)
        elif isinstance(value, (set, frozenset)):
            self._hold(value, set(value))
            self._waiting.extend(value if self._lists_items(value, value) else ())
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, MethodType):
            self._waiting.extend((value.__self__, value.__func__))
        elif isinstance(value, functools.partial):
            self._waiting.extend((value.func, value.args, value.keywords))
        elif hasattr(type(value), "program_of"):  # compiled
            self._waiting.append(value.function)
        elif isinstance(value, _lru_cache_wrapper):
            self._waiting.append(value.__wrapped__)
        elif isinstance(value, np.ndarray):
            _check_length("an array", value.size)
        elif isinstance(value, type):
            self._class(value)
        elif not isinstance(value, ModuleType):
            self._object(value)

    def _note(self, place: Slot, value: Any) -> None:
        self.slots.append((place, value))
        if isinstance(value, tuple):
            self.outer.setdefault(id(value), place)
        self._waiting.append(value)

    def _hold(self, holder: Any, copy: Any) -> None:
        self.holders.append((holder, copy))

    def _sequence(self, value: Any) -> None:
        if not isinstance(value, tuple):
            self._hold(value, list(value))
        for position, item in enumerate(value if self._lists_items(value, value) else ()):
            self._note(Slot(value, position, True), item)

    def _lists_items(self, holder: Any, items: Iterable[Any]) -> bool:
        """Whether each item has a guard of its own; plain values of a long container have not."""
        if len(holder) <= MANY:
            return True
        _check_length(f"a {type(holder).__name__}", len(holder))
        if not all(isinstance(item, CONSTANT) for item in items):
            return True
        if isinstance(holder, (dict, list, deque)):
            self.rows.append((holder, list(items)))
        return False

    def _function(self, function: FunctionType) -> None:
        """Look at the variables of a function: those around it, its defaults, and global ones."""
        for cell in function.__closure__ or ():
            place = Slot(cell, "cell_contents", False)
            value = place.get()
            if value is not MISSING:
                self._note(place, value)
        self._waiting.extend((function.__defaults__, function.__kwdefaults__))
        if function.__dict__:
            self._waiting.append(function.__dict__)
        if not _is_theirs(function.__module__):
            return
        names, loaded = set(names_in(function.__code__)), set(globals_in(function.__code__))
        variables = function.__globals__
        for name in sorted(loaded & variables.keys()):
            value = variables[name]
            if isinstance(value, ModuleType):
                if _is_theirs(value.__name__):
                    inside = vars(value)
                    for attribute in sorted(names & inside.keys()):
                        self._note(Slot(inside, attribute, True), inside[attribute])
            else:
                self._note(Slot(variables, name, True), value)

    def _object(self, value: Any) -> None:
        """Look at the attributes of an object, and at the variables of its methods."""
        kind = type(value)
        if not _is_looked_into(value):
            return
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            self.namespaces.add(id(attributes))
            self._waiting.append(attributes)
        for base in kind.__mro__:
            for name in base.__dict__.get("__slots__", ()):
                place = Slot(value, name, False)
                if not name.startswith("__") and (item := place.get()) is not MISSING:
                    self._note(place, item)
        self._waiting.append(kind)

    def _class(self, kind: type) -> None:
        """Look at the attributes of a class of users, and at the variables of its methods."""
        for base in kind.__mro__:
            if _is_theirs(base.__module__) and id(base) not in self._classes:
                self._classes.add(id(base))
                for name, item in list(vars(base).items()):
                    if isinstance(item, FunctionType):
                        self._waiting.append(item)
                    elif isinstance(item, (staticmethod, classmethod)):
                        self._waiting.append(item.__func__)
                    elif isinstance(item, property):
                        self._waiting.append(item.fget)
                    elif isinstance(item, (*CONSTANT, Tensor, dict, list)) and name[:2] != "__":
                        self._note(Slot(base, name, False), item)

    def has_seen(self, value: Any) -> bool:
        """Whether something was reached."""
        return any(value is each for each in self._kept)

    # --- Afterwards -----------------------------------------------------------------------------

    def release(self) -> None:
        """Let the memory of tensors go: only places are compared with those of a later call."""
        self.tensors.clear()
        self._kept.clear()

    def changed(self) -> Iterator[tuple[Slot, Any, Any]]:
        """Yield places with what was there, and what is there now."""
        for place, value in self.slots:
            now = place.get()
            if now is not value and not same(now, value):
                yield place, value, now

    def grown(self) -> Any:
        """Return a dictionary, list or set that has other keys, or another length; None if none."""
        for holder, copy in self.holders:
            ordered = isinstance(holder, dict) and id(holder) not in self.namespaces
            if len(holder) != len(copy) or (ordered and list(holder) != list(copy)):
                return holder
            if isinstance(holder, (dict, set)) and set(holder) != set(copy):
                return holder
        return None


SLOTS = ("_tensor", "_grad", "_requires_grad", "_node", "_base", "_watch", "name")
"""What says which elements a tensor has, what is known of its gradient, and its name."""


def _check_length(what: str, length: int) -> None:
    """Raise CompileError if there are too many items to compare them at each call."""
    if length > MOST:
        raise CompileError(
            f"a function that is compiled leads to {what} of {length} items, more than a program "
            f"compares ({MOST}): keep it elsewhere, or make it a tensor."
        )


def slots_of(tensor: Tensor) -> tuple[Any, ...]:
    """Return what is in the `SLOTS` of a tensor."""
    return tuple([getattr(tensor, name) for name in SLOTS])


def same(a: Any, b: Any) -> bool:
    """Whether two values are one object, or equal values that never change."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a == b and str(a) == str(b)  # 0.0 is not -0.0
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, MethodType):
        return a.__self__ is b.__self__ and a.__func__ is b.__func__
    return isinstance(a, CONSTANT) and a == b


def same_items(a: Iterable[Any], b: Iterable[Any]) -> bool:
    """Whether two rows of one length have the same items, or equal ones that never change."""
    return all(map(operator.is_, a, b)) or all(map(same, a, b))


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of global variables and attributes in a function and those inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def globals_in(code: CodeType) -> Iterator[str]:
    """Yield the names of global variables in a function and those inside it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from globals_in(constant)


def variables_of(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the variables around a function that its own code names, with their values."""
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # it is empty
            yield name, cell.cell_contents
    for name in sorted(set(globals_in(function.__code__)) & function.__globals__.keys()):
        yield name, function.__globals__[name]


def opaque_in(value: Any) -> Any:
    """Return what neither is constant nor can be looked into, among some values; else None."""
    for leaf in leaves_in(value):
        kind = type(leaf)
        subclass = isinstance(leaf, PLAIN) and kind not in PLAIN
        if subclass and not isinstance(leaf, (enum.Enum, np.generic)):
            return leaf
        if not isinstance(leaf, (*CONSTANT, *SILENT, *CLOSED, *_VISITED)):
            known = hasattr(kind, "program_of") or kind.__module__.startswith("functools")
            if not known and not _is_looked_into(leaf):
                return leaf
    return None


_VISITED = (
    Tensor, dict, list, deque, set, frozenset, type, FunctionType, MethodType, np.ndarray,
    ModuleType,
)  # fmt: skip
"""What a snapshot has a way to look into."""


def _is_looked_into(value: Any) -> bool:
    """Whether the attributes of an object are compared: of users' classes, and this project's."""
    if isinstance(value, (SimpleNamespace, Namespace)):
        return True
    module = type(value).__module__
    return _is_ours(module) or is_user_module(module)


def _is_ours(module: Any) -> bool:
    """Whether a module of this name belongs to this project."""
    return not is_user_module(module) and str(module).partition(".")[0].startswith("mt_")


def _is_theirs(module: Any) -> bool:
    """Whether a module of this name belongs to users, and not to a library that is installed."""
    if not is_user_module(module):
        return str(module) == "__main__"
    found = sys.modules.get(str(module))
    file: Callable[..., Any] | str = getattr(found, "__file__", None) or ""
    return "site-packages" not in str(file)
