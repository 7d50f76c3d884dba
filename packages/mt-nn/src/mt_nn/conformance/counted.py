"""The calls of the tables, for whoever counts what a backend makes of layers and functions.

They are entered as `mt_tensor.calls`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from mt_nn.conformance.calls import CALLS, Call
from mt_nn.conformance.calls.call import ready
from mt_tensor import Tensor

Prepared = tuple[Callable[[], list[Tensor]], list[Tensor]]
"""A call, which returns its results, and the leaves by which they can be differentiated."""


def calls() -> Iterator[tuple[str, Callable[[], Prepared]]]:
    """Yield the name of each layer or function, and what prepares a call of it, in float32."""
    for call in CALLS:
        yield call.name, functools.partial(_prepared, call)


def _prepared(call: Call) -> Prepared:
    _, made, leaves = ready(call, "float32")
    return made, leaves
