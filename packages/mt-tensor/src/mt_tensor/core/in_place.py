"""Overwrite the elements of tensors in place, without recording.

Initializers and optimizers change parameters in this way.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mt_autodiff import no_grad
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.tensor import Tensor

Function = Callable[..., Any]


def overwrite(target: Tensor, value: Tensor) -> None:
    """Overwrite a tensor with another of the same backend, converted and broadcast."""
    data, source, backend = target._tensor, value._tensor, target.backend
    if backend.same_memory(data.storage, source.storage):
        source = backend.copy(source, source.layout.contiguous)
    backend.copy(source.expand(data.shape), data)
    data.bump_version()


def fuse_in_place(*changed: str) -> Callable[[Function], Callable[..., None]]:
    """Decorate a function so that its results overwrite some of its arguments.

    The decorated function takes the same arguments and returns None. It is not recorded.

    Args:
        *changed: the names of the positional arguments to overwrite, one per result in order. They
            are floating-point tensors of one shape and dtype, or None, for which the function
            returns None. Other positional arguments are tensors or numbers that broadcast to them.
            Keyword arguments are hashable settings, on which the function may branch.
    """

    def decorate(function: Function) -> Callable[..., None]:
        if "fuse in place" in EXTENSIONS:
            return EXTENSIONS["fuse in place"](function, changed)  # type: ignore[no-any-return]
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
