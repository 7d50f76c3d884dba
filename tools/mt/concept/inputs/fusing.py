"""`exp(-x * x / width)` as one operation, with the gradients of both."""

from typing import Any

X = [-1.0, 0.5, 2.0]
WIDTHS = [0.5, 2.0, 4.0]


def _bump(x: Any, width: Any) -> Any:
    import mt_tensor as mt

    return mt.exp(-x * x / width)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x, width = mt.tensor(X, requires_grad=True), mt.tensor(WIDTHS, requires_grad=True)
    out = mt.fuse(_bump)(x, width)
    out.sum().backward()
    return out, [x.grad, width.grad]


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x, width = mt.tensor(X, requires_grad=True), mt.tensor(WIDTHS, requires_grad=True)
    out = nn.functional.linear(_bump(x, width), mt.eye(3))  # one operation, with a name
    out.sum().backward()
    return out, [x.grad, width.grad]


def reference() -> tuple[Any, Any]:
    import numpy as np

    x, width = np.array(X), np.array(WIDTHS)
    out = np.exp(-x * x / width)
    return out, [-2.0 * x / width * out, x * x / width**2 * out]
