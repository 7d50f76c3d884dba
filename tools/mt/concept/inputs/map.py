"""Four numbers are mapped by `exp`.

In tensors they are not adjacent in memory. The value is that of the lifted function, as in the
course, and the gradient is that of the operation `exp`.
"""

from typing import Any

from mt.concept.gradients import of_scalars

X = [-2.0, -0.5, 0.0, 1.25]


def operators() -> tuple[Any, Any]:
    from mt_operators import operators

    return list(operators.map(operators.exp)(X)), None


def of_scalar(scalar: Any) -> Any:
    return scalar.exp()


def autodiff() -> tuple[Any, Any]:
    from mt_operators import operators

    return of_scalars(lambda scalars: list(operators.map(of_scalar)(scalars)), X)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_operators.core.elementary import exp
    from mt_tensor.course import TensorOps

    table = mt.tensor([[x, 0.0] for x in X])
    x = table[:, 0].requires_grad_()
    x.exp().sum().backward()
    return TensorOps().map(exp)(x), x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    return np.exp(X), np.exp(X)
