"""Overwriting the elements of tensors: a value, or the results of a function.

Nothing here is recorded: it is how parameters get their initial values, and how training changes
them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mt_autodiff import no_grad
from mt_tensor.core.tensor import Tensor

Function = Callable[..., Any]

FUSING: list[Callable[[Function, tuple[str, ...]], Callable[..., None]]] = []
"""What turns a function under `fuse_in_place` into a single pass over memory.

It gets the function and the names of the arguments that change. `pointwise/fusing_in_place.py`
registers it; without it the operations of the function run one by one.
"""


def overwrite(target: Tensor, value: Tensor) -> None:
    """Store the elements of a tensor of the same backend, converted and broadcast."""
    own, data, backend = target._tensor, value._tensor, target.backend
    if backend.same_memory(own.storage, data.storage):
        data = backend.copy(data, data.layout.contiguous)
    backend.copy(data.expand(own.shape), own)
    own.bump_version()


def fuse_in_place(*changed: str) -> Callable[[Function], Callable[..., None]]:
    """Return a decorator for functions whose results replace the elements of some arguments.

    The decorated function takes the same arguments and returns None. It is not recorded.

    >>> import mt_tensor as mt
    >>> @fuse_in_place("total", "count")
    ... def add(total, count, x, *, weight):
    ...     return total + weight * x, None if count is None else count + weight
    >>> total, count = mt.zeros(2), mt.zeros(2)
    >>> add(total, count, mt.tensor([3.0, 5.0]), weight=2.0)
    >>> total, count
    (tensor([ 6., 10.]), tensor([2., 2.]))

    Args:
        *changed: the names of the positional arguments that the results replace, in order: floating
            tensors of one shape and dtype, or None, for which the function returns None. Other
            positional arguments broadcast to them; numbers may replace tensors. Keyword arguments
            are hashable settings, on which the function may branch.
    """

    def decorate(function: Function) -> Callable[..., None]:
        if FUSING:
            return FUSING[0](function, changed)
        places = [[*inspect.signature(function).parameters].index(name) for name in changed]

        @functools.wraps(function)
        def change(*args: Any, **settings: Any) -> None:
            with no_grad():
                returned = function(*args, **settings)
            results = returned if isinstance(returned, tuple) else (returned,)
            for place, result in zip(places, results, strict=True):
                if result is not None:
                    overwrite(args[place], result)

        return change

    return decorate
