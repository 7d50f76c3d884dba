"""How each backend computes a formula: asked once, and kept for all calls that follow.

Operations keep one such dictionary for each of their formulas: a backend is asked for the function
that runs the formula when the first of its tensors comes by. Who stands between operations and a
backend for a while gives other answers; those of before must not be kept by a thread that has asked
then, and so to ask and to keep is one step.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from mt_operators import Formula
from mt_tensor.backends.contract import TensorBackend


class Computing(dict[TensorBackend, Callable[..., Any]]):
    """For each backend that has been asked, `elementwise(formula)` of it; others are asked here.

    Attributes:
        formula: what is computed.
        asked: a plain dictionary for the same, which is read faster.
    """

    def __init__(self, formula: Formula) -> None:
        super().__init__()
        self.formula = formula
        self.asked: dict[TensorBackend, Callable[..., Any]] = {}
        _ALL[id(self)] = self

    def __missing__(self, backend: TensorBackend) -> Callable[..., Any]:
        """Ask a backend."""
        with _asking:
            run = self[backend] = backend.elementwise(self.formula)
        return run

    def answer(self, backend: TensorBackend) -> Callable[..., Any]:
        """Return what a backend answers, and keep it in `asked`, too."""
        with _asking:
            run = self.asked[backend] = self[backend]
        return run

    @staticmethod
    def taken(backend: TensorBackend) -> dict[int, Callable[..., Any]]:
        """Forget what a backend has answered, so that it is asked again; return the answers."""
        answers = {}
        with _asking:
            for key, each in list(_ALL.items()):
                each.asked.pop(backend, None)
                run = each.pop(backend, None)
                if run is not None:
                    answers[key] = run
        return answers

    @staticmethod
    def restored(backend: TensorBackend, answers: dict[int, Callable[..., Any]]) -> None:
        """Put answers back that were taken, in place of those that were given since."""
        with _asking:
            for key, each in list(_ALL.items()):
                each.asked.pop(backend, None)
                each.pop(backend, None)
                if key in answers:
                    each[backend] = answers[key]


_asking = threading.RLock()
"""Held while answers are asked for and kept, or taken away."""

_ALL: WeakValueDictionary[int, Computing] = WeakValueDictionary()
"""All of them, for whoever stands between operations and a backend for a while."""
