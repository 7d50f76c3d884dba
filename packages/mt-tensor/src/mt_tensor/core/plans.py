"""Plan caches: how each backend computes a formula, planned once per signature.

The signature of a call is its backend and the layouts of its inputs and results. A backend chooses
a function for it in `PlannedRun.plan` (`contract.py`); later calls look the function up in a cache,
one per formula.

Caches are bounded. A plan must depend on its key only; if anything else that it depends on changes,
call `drop_plans`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from mt_operators import OPERATORS, Formula

MAX_ENTRIES = 1024
"""The number of entries of a cache; adding another one empties it first."""


class Cache(dict[Any, Any]):
    """A bounded dictionary that creates missing values, and that `drop_plans` empties."""

    drops = 0
    """How often `drop_plans` was called."""

    def __init__(self) -> None:
        super().__init__()
        with _LOCK:
            _CACHES[id(self)] = self

    def make(self, key: Any) -> Any:
        """Create the value for a key."""
        raise NotImplementedError

    def __missing__(self, key: Any) -> Any:
        """Create a value, and store it unless another thread dropped all plans meanwhile."""
        drops = Cache.drops
        value = self.make(key)
        with _LOCK:
            if Cache.drops == drops:
                if len(self) >= MAX_ENTRIES:
                    self.clear()
                self[key] = value
        return value


class Plans(Cache):
    """The cached functions that compute one formula; see `PlannedRun`.

    A key is the backend, the layout of new results, and the layout of each input:

        run = plans[backend, out, x.layout, y.layout]

    With a backend alone as key, the function accepts any views; `change` writes to views with it.

    Attributes:
        formula: the formula.
    """

    def __init__(self, formula: Formula) -> None:
        super().__init__()
        self.formula = formula

    def make(self, key: Any) -> Callable[..., Any]:
        """Plan a signature."""
        if not isinstance(key, tuple):
            return key.elementwise(self.formula)  # type: ignore[no-any-return]
        backend, out, *inputs = key
        run = backend.elementwise(self.formula)
        plan = getattr(run, "plan", None)
        return (plan and plan(out, tuple(inputs))) or functools.partial(run, out)

    def change(self, backend: Any, out: Any, *inputs: Any) -> None:
        """Write the results of the formula to views.

        Args:
            backend: the backend of all views.
            out: views, one for each result.
            *inputs: views and numbers.
        """
        self[backend](out, *inputs)


def drop_plans() -> None:
    """Clear all caches, after a change of state that affects plans but is not in their keys."""
    with _LOCK:
        Cache.drops += 1
        for cache in list(_CACHES.values()):
            cache.clear()


_CACHES: WeakValueDictionary[int, Cache] = WeakValueDictionary()
_LOCK = threading.RLock()
"""All caches, and the lock that guards changes of them."""

ADD = Plans(OPERATORS["add"].value)
"""The functions that add."""
