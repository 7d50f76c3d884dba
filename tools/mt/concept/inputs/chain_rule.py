"""The derivative of `sin(x * x)` at three points, which is `2 x cos(x * x)`."""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

X = [-1.25, 0.5, 2.0]


def operators() -> tuple[Any, Any]:
    from mt_operators import OPERATORS

    square, sin = OPERATORS["square"], OPERATORS["sin"]
    inner = [square.function(x) for x in X]
    outer = [sin.function(y) for y in inner]
    through_sin, through_square = (row.gradient((True,)).function for row in (sin, square))
    known = zip(X, inner, outer, strict=True)
    return outer, [through_square(through_sin(1.0, y, z), x, y) for x, y, z in known]


def autodiff() -> tuple[Any, Any]:
    return of_scalars(lambda scalars: [x.square().sin() for x in scalars], X)


def tensor() -> tuple[Any, Any]:
    return of_tensors(lambda x: x.square().sin(), X)


def reference() -> tuple[Any, Any]:
    import numpy as np

    x = np.array(X)
    return np.sin(x * x), 2.0 * x * np.cos(x * x)
