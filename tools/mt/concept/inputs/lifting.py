"""The row of `sigmoid`, which is written with `exp`, `where` and a division, at three points."""

from typing import Any

X = [-3.0, 0.0, 1.5]


def operators() -> tuple[Any, Any]:
    import math

    from mt_operators import OPERATORS, lift
    from mt_operators.elementary import div, where

    row = OPERATORS["sigmoid"]
    spelling: dict[str, Any] = {"exp": math.exp, "where": where, "div": div}
    function, slope = (lift(source, spelling) for source in (row.function, row.partials[0]))
    values = [function(x) for x in X]
    return values, [slope(x, out) for x, out in zip(X, values, strict=True)]


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    scalars = [Scalar(x) for x in X]
    values = [scalar.sigmoid() for scalar in scalars]
    for value in values:
        value.backward()
    return values, [scalar.grad for scalar in scalars]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    out = x.sigmoid()
    out.sum().backward()
    return out, x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    out = 1.0 / (1.0 + np.exp(np.negative(X)))
    return out, out * (1.0 - out)
