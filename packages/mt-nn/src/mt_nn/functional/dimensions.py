"""One definition of a function for signals, images and volumes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from mt_nn.core.arguments import checked

P = ParamSpec("P")
R = TypeVar("R")


def over_dimensions(
    function: Callable[Concatenate[int, P], R],
) -> tuple[Callable[P, R], Callable[P, R], Callable[P, R]]:
    """Return versions of a function for one, two and three dimensions, all of them `checked`.

    Their names end in "1d", "2d" and "3d".

    Args:
        function: takes the number of dimensions as its first argument.
    """

    def over(dims: int) -> Callable[P, R]:
        one: Any = functools.partial(function, dims)
        one.__name__ = one.__qualname__ = f"{function.__name__}{dims}d"
        one.__module__, one.__doc__ = function.__module__, function.__doc__
        return checked(one)

    return over(1), over(2), over(3)
