"""`k = x * x` inside a block that records nothing; the derivative of `k * x` is then k alone."""

from typing import Any

X = 3.0


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar, no_grad

    x = Scalar(X)
    with no_grad():
        k = x * x
    out = k * x
    out.backward()
    return out, x.grad


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    with mt.no_grad():
        k = x.square()
    out = k * x
    out.backward()
    return out, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt
    from mt_nn.library.modes import evaluation

    x = mt.tensor(X, requires_grad=True)
    leaving_out = nn.Dropout(0.5)
    with evaluation(leaving_out):  # in which it leaves out nothing
        k = leaving_out(x * x)
    out = k * x
    out.backward()
    return out, x.grad


def reference() -> tuple[Any, Any]:
    return X**3, X**2
