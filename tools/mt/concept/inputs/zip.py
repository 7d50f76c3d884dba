"""Four pairs of numbers are multiplied; the gradients are those of both lists.

For tensors the value is that of the lifted function, as in the course, and the gradients are those
of the operation.
"""

from typing import Any

from mt.concept.gradients import of_scalars

X = [0.5, -1.25, 2.0, 4.0]
Y = [3.0, 0.75, -2.5, 1.5]


def operators() -> tuple[Any, Any]:
    from mt_operators import operators

    return list(operators.zipWith(operators.mul)(X, Y)), None


def _mul(x: Any, y: Any) -> Any:
    return x * y


def autodiff() -> tuple[Any, Any]:
    from mt_operators import operators

    return of_scalars(lambda xs, ys: list(operators.zipWith(_mul)(xs, ys)), X, Y)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_operators import operators
    from mt_tensor.course import TensorOps

    x, y = mt.tensor(X, requires_grad=True), mt.tensor(Y, requires_grad=True)
    (x * y).sum().backward()
    return TensorOps().zip(operators.mul)(x, y), [x.grad, y.grad]


def reference() -> tuple[Any, Any]:
    return [x * y for x, y in zip(X, Y, strict=True)], [Y, X]
