"""The derivative of `x * x * x` at three points by central differences, and the exact one."""

from typing import Any

X = [-1.5, 0.5, 2.0]


def cube(x: Any) -> Any:
    return x * x * x


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar, central_difference, derivative_check

    scalars = [Scalar(x) for x in X]
    numeric = [central_difference(cube, x) for x in X]
    for scalar in scalars:
        cube(scalar).backward()
        derivative_check(cube, scalar)
    return numeric, [scalar.grad for scalar in scalars]


def tiny_step() -> tuple[Any, Any]:
    from mt_autodiff import central_difference

    return [central_difference(cube, x, epsilon=1e-13) for x in X], None


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_tensor.autograd.gradcheck import grad_central_difference

    x = mt.tensor(X, dtype="float64", requires_grad=True)
    numeric = [grad_central_difference(cube, x, ind=(i,)) for i in range(len(X))]
    cube(x).sum().backward()
    mt.gradcheck(cube, (x,))
    return numeric, x.grad


def reference() -> tuple[Any, Any]:
    slopes = [3.0 * x * x for x in X]
    return slopes, slopes
