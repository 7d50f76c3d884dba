"""`exp(-x * x / width)` as one operation, with the gradients of both."""

from typing import Any

from mt.concept.gradients import of_tensors

X = [-1.0, 0.5, 2.0]
WIDTHS = [0.5, 2.0, 4.0]


def _bump(x: Any, width: Any) -> Any:
    import mt_tensor as mt

    return mt.exp(-x * x / width)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    return of_tensors(mt.fuse(_bump), X, WIDTHS)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    linear = nn.functional.linear  # one named operation
    return of_tensors(lambda x, width: linear(_bump(x, width), mt.eye(3)), X, WIDTHS)


def reference() -> tuple[Any, Any]:
    import numpy as np

    x, width = np.array(X), np.array(WIDTHS)
    out = np.exp(-x * x / width)
    return out, [-2.0 * x / width * out, x * x / width**2 * out]
