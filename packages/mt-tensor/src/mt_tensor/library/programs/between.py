"""Standing between the operations of one thread and the backends that compute them.

Inside a `with` block the methods of the backends' instances are replaced by others. What a method
calls inside is its own business, and so is what other threads ask.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any, Self

from mt_tensor.backends.computing import Computing
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.pointwise.elementwise import shared_constant

StandIn = Callable[[TensorBackend, str, Callable[..., Any]], Callable[..., Any]]
"""Makes of a backend, the name of a method and the method what is called in its place."""


class Between:
    """Who stands between some backends and what one thread asks of them.

    Attributes:
        backends: the backends.
        watching: whether who asks is that thread, and no method that is run.
    """

    def __init__(self, backends: Iterable[TensorBackend]) -> None:
        self.backends = list(dict.fromkeys(backends))
        self._inside = False
        self._thread = threading.get_ident()
        self._undo = ExitStack()

    def stand_ins(self) -> dict[str, StandIn]:
        """Return what is made of each method of a backend."""
        raise NotImplementedError

    @property
    def watching(self) -> bool:
        """Whether this call is one to look at."""
        return not self._inside and threading.get_ident() == self._thread

    def __enter__(self) -> Self:
        """Stand between; numbers that are kept as tensors are made anew, to be seen."""
        shared_constant.cache_clear()
        with ExitStack() as undo:
            for backend in self.backends:
                undo.callback(Computing.restored, backend, Computing.taken(backend))
                for name, make in self.stand_ins().items():
                    _replace(undo, backend, name, make)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Let backends be asked by everybody again."""
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
