"""Standing between the operations of one thread and the backends that compute them.

Inside a `with` block the methods of the backends' instances are replaced by others. What a method
calls inside is its own business, and so is what other threads ask. Another thread that wants to
stand there waits for its turn: the methods are replaced for all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any, Self

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.elementwise import shared_constant
from mt_tensor.core.plans import drop_plans

StandIn = Callable[[TensorBackend, str, Callable[..., Any]], Callable[..., Any]]
"""Makes of a backend, the name of a method and the method what is called in its place."""


_turn = threading.RLock()
"""Held by the thread whose turn it is to stand between operations and backends."""


class Between:
    """Who stands between some backends and what one thread asks of them.

    Attributes:
        backends: the backends.
        watching: whether who asks is that thread, and no method that is run.
    """

    def __init__(self, backends: Iterable[TensorBackend]) -> None:
        self.backends = list(dict.fromkeys(backends))
        self._inside = self._stands = False
        self._thread = threading.get_ident()
        self._undo = ExitStack()

    def stand_ins(self) -> dict[str, StandIn]:
        """Return what is made of each method of a backend."""
        raise NotImplementedError

    @property
    def watching(self) -> bool:
        """Whether this call is one to look at."""
        own = threading.get_ident() == self._thread
        return own and self._stands and not self._inside

    def __enter__(self) -> Self:
        """Stand between; numbers that are kept as tensors are made anew, to be seen."""
        with ExitStack() as undo:
            undo.enter_context(_turn)
            shared_constant.cache_clear()
            undo.callback(drop_plans)
            for backend in self.backends:
                for name, make in self.stand_ins().items():
                    _replace(undo, backend, name, make)
            drop_plans()
            self._undo = undo.pop_all()
        self._stands = True
        return self

    def __exit__(self, *_: object) -> None:
        """Let backends be asked by everybody again.

        Somebody may still have a function that was made here, from where answers are kept.
        """
        self._stands = False
        self._undo.close()

    def run(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a function without looking at what it asks."""
        before, self._inside = self._inside, True
        try:
            return function(*arguments, **options)
        finally:
            self._inside = before


def _replace(undo: ExitStack, backend: TensorBackend, name: str, make: StandIn) -> None:
    original = getattr(backend, name)
    had = vars(backend).get(name)
    if had is None:
        undo.callback(delattr, backend, name)
    else:
        undo.callback(setattr, backend, name, had)
    setattr(backend, name, make(backend, name, original))
