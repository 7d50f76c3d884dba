"""How each backend computes a formula: asked once, and kept for all calls that follow.

Operations keep one such dictionary for each of their formulas: a backend is asked for the function
that runs the formula when the first of its tensors comes by.
"""

from __future__ import annotations

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
        run = self[backend] = backend.elementwise(self.formula)
        return run

    @staticmethod
    def taken(backend: TensorBackend) -> dict[int, Callable[..., Any]]:
        """Forget what a backend has answered, so that it is asked again; return the answers."""
        answers = {}
        for key, each in list(_ALL.items()):
            each.asked.pop(backend, None)
            run = each.pop(backend, None)
            if run is not None:
                answers[key] = run
        return answers

    @staticmethod
    def restored(backend: TensorBackend, answers: dict[int, Callable[..., Any]]) -> None:
        """Put answers back that were taken, in place of those that were given since."""
        for key, each in list(_ALL.items()):
            each.asked.pop(backend, None)
            each.pop(backend, None)
            if key in answers:
                each[backend] = answers[key]


_ALL: WeakValueDictionary[int, Computing] = WeakValueDictionary()
"""All of them, for whoever stands between operations and a backend for a while."""
