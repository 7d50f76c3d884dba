"""The product of each column of a table, reduced with `mul`.

For tensors the value is that of the lifted function, as in the course, and the gradient is that of
the operation.
"""

from typing import Any

from mt.concept.gradients import of_scalars

X = [[0.5, -1.25, 2.0], [4.0, 1.5, -0.75]]


def operators() -> tuple[Any, Any]:
    from mt_operators import operators

    product = operators.reduce(operators.mul, 1.0)
    return [product(column) for column in zip(*X, strict=True)], None


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar
    from mt_operators import operators

    product = operators.reduce(lambda x, y: x * y, Scalar(1.0))
    return of_scalars(lambda rows: [product(column) for column in zip(*rows, strict=True)], X)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_operators import operators
    from mt_tensor.course import TensorOps

    x = mt.tensor(X, requires_grad=True)
    x.prod(0).sum().backward()
    return TensorOps().reduce(operators.mul, 1.0)(x, 0).squeeze(0), x.grad


def reference() -> tuple[Any, Any]:
    first, second = X
    return [x * y for x, y in zip(first, second, strict=True)], [second, first]
