"""`k = x * x` is computed without recording; the derivative of `k * x` is then k alone."""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

X = 3.0


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import no_grad

    def cubed(x: Any) -> Any:
        with no_grad():
            k = x * x
        return k * x

    return of_scalars(cubed, X)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    def cubed(x: Any) -> Any:
        with mt.no_grad():
            k = x.square()
        return k * x

    return of_tensors(cubed, X)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    from mt_nn.utils.modes import evaluation

    def cubed(x: Any) -> Any:
        dropout = nn.Dropout(0.5)
        with evaluation(dropout):  # which disables dropout
            k = dropout(x * x)
        return k * x

    return of_tensors(cubed, X)


def reference() -> tuple[Any, Any]:
    return X**3, X**2
