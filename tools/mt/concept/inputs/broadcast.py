"""Three numbers are added to each row of a table, and each row is scaled by one of two numbers.

The gradients are those of the three and of the two. The second value is the number of elements in
memory for the three: 3 are enough.
"""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

X = [[1.0, -2.0, 3.0], [0.5, 1.5, -1.0]]
BIAS = [0.25, 0.5, -0.75]
SCALE = [[2.0], [-0.5]]


def moved(x: Any, bias: Any, scale: Any) -> Any:
    return (x + bias) * scale


def autodiff() -> tuple[Any, Any]:
    def each_moved(bias: Any, scale: Any) -> Any:
        return [
            [moved(x, b, s) for x, b in zip(row, bias, strict=True)]
            for row, (s,) in zip(X, scale, strict=True)
        ]

    rows, slopes = of_scalars(each_moved, BIAS, SCALE)
    return [rows, len(BIAS)], slopes


def in_memory(view: Any) -> Any:
    """Return the number of elements in memory from the first to the last of a view."""
    return 1 + sum((size - 1) * step for size, step in zip(view.shape, view.stride(), strict=True))


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    out, slopes = of_tensors(lambda *others: mt.fuse(moved)(mt.tensor(X), *others), BIAS, SCALE)
    return [out, in_memory(mt.tensor(BIAS).expand(2, 3))], slopes


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

    x, linear = mt.tensor(X), nn.functional.linear
    out, slopes = of_tensors(lambda b, scale: linear(x, mt.eye(3), b) * scale, BIAS, SCALE)
    return [out, in_memory(mt.tensor(BIAS))], slopes


def reference() -> tuple[Any, Any]:
    import numpy as np

    scale = np.array(SCALE)
    out = np.add(X, BIAS)
    return [out * scale, len(BIAS)], [scale.sum() * np.ones(3), out.sum(1, keepdims=True)]
