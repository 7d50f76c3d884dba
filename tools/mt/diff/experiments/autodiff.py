"""A loss of four thousand weights, and its gradient.

Floats do not record how the loss was computed. Its derivatives have to be estimated by finite
differences, which needs two losses for each weight and loses half of the digits. Backpropagation
through a recorded computation gives all of them in one pass, to the last digit.
"""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from mt_operators import operators

WEIGHTS, SAMPLES = 4000, 2

random.seed(0)
weights = [random.gauss(0.0, 0.1) for _ in range(WEIGHTS)]
samples = [[random.gauss(0.0, 1.0) for _ in range(WEIGHTS)] for _ in range(SAMPLES)]
signs = [random.choice([-1.0, 1.0]) for _ in range(SAMPLES)]


def loss(weights: Sequence[Any], loss_of: Callable[[Any], Any]) -> Any:
    """Return the loss of a linear classifier on the samples."""
    total: Any = 0.0
    for sample, sign in zip(samples, signs, strict=True):
        score: Any = 0.0
        for weight, feature in zip(weights, sample, strict=True):
            score = score + weight * feature
        total = total + loss_of(-sign * score)
    return total


def exact() -> list[float]:
    """Return the analytic gradient."""
    gradient = [0.0] * WEIGHTS
    for sample, sign in zip(samples, signs, strict=True):
        score = sum(weight * feature for weight, feature in zip(weights, sample, strict=True))
        slope = -sign * operators.sigmoid(-sign * score)
        gradient = [g + slope * feature for g, feature in zip(gradient, sample, strict=True)]
    return gradient


def report(gradient: Sequence[float], losses: int, seconds: float) -> None:
    """Print the cost of the gradient, and its error."""
    error = max(abs(found - true) for found, true in zip(gradient, exact(), strict=True))
    print(f"losses computed: {losses:,}, in {1000 * seconds:.0f} ms; largest error {error:.0e}")


def before() -> None:
    """Use finite differences."""
    from mt_operators import OPERATORS

    softplus = OPERATORS["softplus"].function
    step = 1e-6
    start = time.perf_counter()
    gradient = []
    for i in range(WEIGHTS):
        up, down = (
            loss([*weights[:i], weights[i] + move, *weights[i + 1 :]], softplus)
            for move in (step, -step)
        )
        gradient.append((up - down) / (2 * step))
    report(gradient, 2 * WEIGHTS, time.perf_counter() - start)


def after() -> None:
    """Record the loss, and run backward."""
    from mt_autodiff import Scalar

    start = time.perf_counter()
    recorded = [Scalar(weight, requires_grad=True) for weight in weights]
    loss(recorded, lambda score: score.softplus()).backward()
    gradient = [weight.grad for weight in recorded]
    report(gradient, 1, time.perf_counter() - start)
