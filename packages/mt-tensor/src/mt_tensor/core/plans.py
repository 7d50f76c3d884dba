"""How each backend computes a formula, found out once per signature.

The signature of a call is its backend and the layouts of what it reads and writes. What a backend
needs to find out about it, it finds out in `PlannedRun.plan` (`contract.py`); the result is kept
here, with one cache for each formula, and is all that is looked up by the calls that follow.

Caches are bounded: a program that meets more signatures than a cache holds plans some of them
again. Whatever a plan depends on is in its key, or drops the plans when it changes (`drop_plans`).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from mt_operators import Formula

MOST = 1024
"""How many entries a cache holds; the next one empties it."""


class Cache(dict[Any, Any]):
    """A bounded dictionary that makes what it does not hold, and that `drop_plans` empties."""

    drops = 0
    """How often all caches were emptied."""

    def __init__(self) -> None:
        super().__init__()
        with _LOCK:
            _CACHES[id(self)] = self

    def make(self, key: Any) -> Any:
        """Return the value for a key."""
        raise NotImplementedError

    def __missing__(self, key: Any) -> Any:
        """Make a value, and store it, unless plans were dropped meanwhile by another thread."""
        drops = Cache.drops
        value = self.make(key)
        with _LOCK:
            if Cache.drops == drops:
                if len(self) >= MOST:
                    self.clear()
                self[key] = value
        return value


class Plans(Cache):
    """The functions that compute one formula; see `PlannedRun`.

    A key is the backend, the layout of new results, and then the layout of each input:

        run = plans[backend, out, x.layout, y.layout]

    A backend alone leads to the function for any views, with which `change` writes to views.

    Attributes:
        formula: what is computed.
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
            backend: that of all views.
            out: views, one for each result.
            *inputs: views and numbers.
        """
        self[backend](out, *inputs)


def drop_plans() -> None:
    """Forget all plans, since something has changed that they depend on and that no key names."""
    with _LOCK:
        Cache.drops += 1
        for cache in list(_CACHES.values()):
            cache.clear()


_CACHES: WeakValueDictionary[int, Cache] = WeakValueDictionary()
_LOCK = threading.RLock()
"""All caches, and the lock under which they change."""
