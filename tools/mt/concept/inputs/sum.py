"""The sum of six numbers, with its gradient, and the sum of a thousand times 0.01.

All are stored in float32, except floats and Scalars, which have 16 digits.
"""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

X = [0.5, -1.25, 2.0, 3.5, -0.75, 4.0]
MANY = [0.01] * 1000


def operators() -> tuple[Any, Any]:
    from mt_operators import operators

    return [operators.sum(X), operators.sum(MANY)], None


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    total, slopes = of_scalars(lambda scalars: sum(scalars, Scalar(0.0)), X)
    return [total, sum(map(Scalar, MANY), Scalar(0.0))], slopes


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    total, slopes = of_tensors(lambda x: x.sum(), X)
    return [total, mt.tensor(MANY).sum()], slopes


def one_after_the_other() -> tuple[Any, Any]:
    import mt_tensor as mt

    def total(numbers: list[float]) -> Any:
        running = mt.tensor(0.0)
        for number in mt.tensor(numbers):
            running = running + number
        return running

    return [total(X), total(MANY)], None


def reference() -> tuple[Any, Any]:
    return [sum(X), 10.0], [1.0] * len(X)
