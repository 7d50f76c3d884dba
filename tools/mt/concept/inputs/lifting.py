"""The operator `sigmoid`, which is defined by `exp`, `where` and a division, at three points.

For numbers the value is that of its graph, with the exponential of `math`. For tensors a backend
maps the operator's function explicitly, and the gradient is that of the operation.
"""

from typing import Any

X = [-3.0, 0.0, 1.5]


def operators() -> tuple[Any, Any]:
    import math

    from mt_operators import OPERATORS
    from mt_operators.core.elementary import div, where
    from mt_operators.core.lowering import evaluate
    from mt_operators.core.tracing import graph_of

    row = OPERATORS["sigmoid"]
    spelling: dict[str, Any] = {"exp": math.exp, "where": where, "div": div}
    values = [evaluate(graph_of(row.value), [x], spelling)[0] for x in X]
    return values, [row.partials[0](x, out) for x, out in zip(X, values, strict=True)]


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar, grad

    scalars = [Scalar(x) for x in X]
    values = [scalar.sigmoid() for scalar in scalars]
    pairs = zip(values, scalars, strict=True)
    return values, [grad(value, scalar, create_graph=True)[0] for value, scalar in pairs]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_operators import OPERATORS
    from mt_tensor.course import TensorOps

    x = mt.tensor(X, requires_grad=True)
    x.sigmoid().sum().backward()
    return TensorOps().map(OPERATORS["sigmoid"].function)(x), x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    out = 1.0 / (1.0 + np.exp(np.negative(X)))
    return out, out * (1.0 - out)
