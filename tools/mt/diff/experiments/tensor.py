"""A product of two matrices, and the gradients of both.

As Scalars, every multiplication and every addition is an object with a history. A tensor is one
object, and so is its history, however many elements it has.
"""

import random
import time
from typing import Any

SIZE = 48

random.seed(0)
left, right = ([[random.gauss(0.0, 1.0) for _ in range(SIZE)] for _ in range(SIZE)] for _ in "ab")


def report(start: float, recorded: int, slope: float) -> None:
    """Print the time, the number of recorded values, and an element of the gradient."""
    milliseconds = 1000 * (time.perf_counter() - start)
    print(f"recorded values: {recorded:,}, in {milliseconds:,.0f} ms; d/da[0][0] = {slope:.6f}")


def before() -> None:
    """Multiply number by number."""
    from mt_autodiff import Scalar, topological_sort

    start = time.perf_counter()
    a, b = (
        [[Scalar(x, requires_grad=True) for x in row] for row in side] for side in (left, right)
    )
    total = Scalar(0.0)
    for row in a:
        for column in range(SIZE):
            for k in range(SIZE):
                total = total + row[k] * b[k][column]
    recorded = len(topological_sort(total))
    total.backward()
    report(start, recorded, a[0][0].grad)


def after() -> None:
    """Multiply the matrices."""
    import mt_tensor as mt
    from mt_autodiff import topological_sort

    start = time.perf_counter()
    a, b = (mt.tensor(side, dtype="float64", requires_grad=True) for side in (left, right))
    total = (a @ b).sum()
    recorded = len(topological_sort(total))
    slope: Any = mt.autograd.grad(total, [a, b])[0]
    report(start, recorded, slope[0, 0].item())
