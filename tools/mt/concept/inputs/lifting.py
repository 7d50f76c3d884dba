"""The row of `sigmoid`, which is written with `exp`, `where` and a division, at three points.

For tensors the value is that of the row's function, lifted by hand, and the gradient that of the
operation.
"""

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
    from mt_autodiff import Scalar, grad

    scalars = [Scalar(x) for x in X]
    values = [scalar.sigmoid() for scalar in scalars]
    pairs = zip(values, scalars, strict=True)
    return values, [grad(value, scalar, create_graph=True)[0] for value, scalar in pairs]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_operators import OPERATORS
    from mt_tensor.lifting import TensorOps

    x = mt.tensor(X, requires_grad=True)
    x.sigmoid().sum().backward()
    return TensorOps().map(OPERATORS["sigmoid"].function)(x), x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    out = 1.0 / (1.0 + np.exp(np.negative(X)))
    return out, out * (1.0 - out)
