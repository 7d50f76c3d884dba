"""Three numbers are added to each row of a table, and each row is scaled by one of two numbers.

The gradients are those of the three and of the two. Beside the table stands how many
numbers are kept in memory for the three: 3 are enough.
"""

from typing import Any

X = [[1.0, -2.0, 3.0], [0.5, 1.5, -1.0]]
BIAS = [0.25, 0.5, -0.75]
SCALE = [[2.0], [-0.5]]


def moved(x: Any, bias: Any, scale: Any) -> Any:
    return (x + bias) * scale


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    bias, scale = [Scalar(b) for b in BIAS], [Scalar(s) for (s,) in SCALE]
    rows = [
        [moved(x, b, s) for x, b in zip(row, bias, strict=True)]
        for row, s in zip(X, scale, strict=True)
    ]
    sum((value for row in rows for value in row), Scalar(0.0)).backward()
    return [rows, len(bias)], [[b.grad for b in bias], [[s.grad] for s in scale]]


def in_memory(view: Any) -> Any:
    """Return how many elements lie from the first of a view to its last."""
    return 1 + sum((size - 1) * step for size, step in zip(view.shape, view.stride(), strict=True))


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    bias, scale = mt.tensor(BIAS, requires_grad=True), mt.tensor(SCALE, requires_grad=True)
    out = mt.fuse(moved)(mt.tensor(X), bias, scale)
    out.sum().backward()
    return [out, in_memory(bias.expand(2, 3))], [bias.grad, scale.grad]


def copying() -> tuple[Any, Any]:
    import mt_tensor as mt

    bias, scale = mt.tensor(BIAS, requires_grad=True), mt.tensor(SCALE, requires_grad=True)
    repeated = mt.stack([bias] * len(X))
    out = moved(mt.tensor(X), repeated, scale)
    out.sum().backward()
    return [out, in_memory(repeated)], [bias.grad, scale.grad]


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    bias, scale = mt.tensor(BIAS, requires_grad=True), mt.tensor(SCALE, requires_grad=True)
    out = nn.functional.linear(mt.tensor(X), mt.eye(3), bias) * scale
    out.sum().backward()
    return [out, in_memory(bias)], [bias.grad, scale.grad]


def reference() -> tuple[Any, Any]:
    import numpy as np

    scale = np.array(SCALE)
    out = np.add(X, BIAS)
    return [out * scale, len(BIAS)], [scale.sum() * np.ones(3), out.sum(1, keepdims=True)]
