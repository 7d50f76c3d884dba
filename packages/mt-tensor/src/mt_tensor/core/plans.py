"""How each backend computes a formula, found out once per signature.

The signature of a call is its backend and the layouts of what it reads and writes. What a backend
needs to find out about it, it finds out in `PlannedRun.plan`; the result is kept here, with one
cache for each formula, and is all that is looked up by the calls that follow.

Caches are bounded: a program that meets more signatures than a cache holds plans some of them
again. Whatever a plan depends on is in its key, or drops the plans when it changes (`drop_plans`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from mt_operators import Formula
from mt_tensor.core.contract import TensorBackend

MOST = 1024
"""How many entries a cache holds; the next one empties it."""


class Cache(dict[Any, Any]):
    """A bounded dictionary that `drop_plans` empties."""

    def __init__(self) -> None:
        super().__init__()
        _ALL[id(self)] = self

    def keep(self, key: Any, value: Any) -> Any:
        """Store a value, and return it."""
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

    def __missing__(self, key: tuple[Any, ...]) -> Callable[..., Any]:
        """Plan a signature."""
        backend, out, *inputs = key
        run = backend.elementwise(self.formula)
        plan = getattr(run, "plan", None)
        planned = plan and plan(out, tuple(inputs))
        return self.keep(key, planned or functools.partial(run, out))  # type: ignore[no-any-return]

    def change(self, backend: TensorBackend, out: Any, *inputs: Any) -> None:
        """Write the results of the formula to views.

        Args:
            backend: that of all views.
            out: views, one for each result.
            *inputs: views and numbers.
        """
        run = self.get(backend)
        if run is None:
            run = self.keep(backend, backend.elementwise(self.formula))
        run(out, *inputs)


def drop_plans() -> None:
    """Forget all plans, since something has changed that they depend on and that no key names."""
    for cache in list(_ALL.values()):
        cache.clear()


_ALL: WeakValueDictionary[int, Cache] = WeakValueDictionary()
"""All caches."""
