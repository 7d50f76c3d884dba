"""The calls of the tables, for tools that count the calls of a backend.

They are registered as the entry point `mt_tensor.calls`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from mt_nn.conformance.calls import CALLS, Call
from mt_nn.conformance.calls.call import ready
from mt_tensor import Tensor

Prepared = tuple[Callable[[], list[Tensor]], list[Tensor]]
"""A function that makes the call, and the leaves that its results depend on."""


def calls() -> Iterator[tuple[str, Callable[[], Prepared]]]:
    """Yield the name of each layer or function, and a function that prepares a float32 call."""
    for call in CALLS:
        yield call.name, functools.partial(_prepared, call)


def _prepared(call: Call) -> Prepared:
    _, run, leaves = ready(call, "float32")
    return run, leaves
