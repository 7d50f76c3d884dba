"""Which objects a program can compare, and how.

Plain values are compared by value, objects of users and of this project by their attributes, and
others by identity, if that is enough.
"""

from __future__ import annotations

import enum
import io
import logging
import operator
import random
import re
import sys
import threading
import types
import weakref
from argparse import Namespace
from array import array
from collections import ChainMap, UserDict, UserList, UserString, deque
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any
from uuid import UUID

import numpy as np

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.generator import Generator
from mt_tensor.core.plans import Cache
from mt_tensor.core.tensor import Tensor
from mt_tensor.programs.pytree import PLAIN, exact_key, flattened
from mt_tensor.programs.user_code import is_user_module

CONSTANT = (
    *PLAIN, enum.Enum, range, slice, types.EllipsisType, np.generic, np.dtype, np.ufunc, Decimal,
    Fraction, date, time, timedelta, UUID, PurePath, re.Pattern,
)  # fmt: skip
"""Immutable types that are compared by value."""

WRITE_ONLY = (logging.Logger, io.IOBase)
"""Types of objects that a function only writes to, which happens while it is recorded."""

BY_IDENTITY = (types.BuiltinFunctionType, Cache, Generator, TensorBackend)
"""Types that are compared by identity only; caches of plans never change a result."""

VARYING = (
    Iterator, bytearray, memoryview, array, random.Random, np.random.Generator,
    np.random.RandomState, ContextVar, threading.local, weakref.ReferenceType,
    types.MappingProxyType, ChainMap, UserDict, UserList, UserString,
)  # fmt: skip
"""Types of library objects whose state no guard compares."""

VISITED = (
    Tensor, dict, list, deque, set, frozenset, type, types.FunctionType, types.MethodType,
    np.ndarray, types.ModuleType,
)  # fmt: skip
"""Types that `Snapshot` has a case for."""


def same(a: Any, b: Any) -> bool:
    """Return whether two values are the same object, or equal constants."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, types.MethodType):
        return a.__self__ is b.__self__ and a.__func__ is b.__func__
    return isinstance(a, CONSTANT) and bool(exact_key(a) == exact_key(b))


def same_items(a: Iterable[Any], b: Iterable[Any]) -> bool:
    """Return whether two containers of equal length have the same items, or equal constants."""
    return all(map(operator.is_, a, b)) or all(map(same, a, b))


def incomparable_in(value: Any, static: Sequence[Any]) -> Any:
    """Return an object in nested containers that a snapshot cannot compare, or None."""
    for leaf in flattened(value):
        if any(leaf is each for each in static):
            continue
        kind = type(leaf)
        subclass = isinstance(leaf, PLAIN) and kind not in PLAIN
        if subclass and not isinstance(leaf, (enum.Enum, np.generic)):
            return leaf
        if not isinstance(leaf, (*CONSTANT, *WRITE_ONLY, *BY_IDENTITY, *VISITED)):
            known = hasattr(kind, "program_of") or kind.__module__.startswith("functools")
            if not known and not has_visible_attributes(leaf):
                return leaf
    return None


def has_visible_attributes(value: Any) -> bool:
    """Return whether attributes are compared: for classes of users and of this project."""
    module = str(type(value).__module__)
    is_ours = module.partition(".")[0].startswith("mt_")
    return (
        is_ours or is_user_module(module) or isinstance(value, (types.SimpleNamespace, Namespace))
    )


def is_user_source(module: Any) -> bool:
    """Return whether a module belongs to the user's program, and not to an installed library.

    The main module does, even if its file is that of an installed launcher: `python -m pytest`.
    """
    if module == "__main__":
        return True
    file = getattr(sys.modules.get(str(module)), "__file__", None)
    return is_user_module(module) and "site-packages" not in str(file)
