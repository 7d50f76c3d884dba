"""How many steps each of 100,000 numbers takes to escape: a loop with a condition per element.

NumPy's functions of whole arrays have no condition for each element, so they do not help: Python
runs every step. Compiled, the same function is a loop in machine code, and threads share the
numbers.
"""

import time
from collections.abc import Callable
from typing import Any

SIZE, MOST = 100_000, 100.0


def steps(c: Any) -> Any:
    """Return how many times `x * x + c` can be applied before it exceeds 2."""
    x, count = 0.0, 0.0
    while count < MOST and abs(x) <= 2.0:
        x, count = x * x + c, count + 1.0
    return count


def run(mapped: Callable[[Any, Any], None]) -> None:
    """Map all numbers twice, because the first run may compile."""
    import mt_tensor as mt

    numbers, out = mt.linspace(-1.5, 1.0, SIZE), mt.zeros(SIZE)
    seconds = 0.0
    for _ in range(2):
        start = time.perf_counter()
        mapped(numbers._tensor, out._tensor)
        seconds = time.perf_counter() - start
    print(f"{1000 * seconds:,.0f} ms; steps in all {out.sum().item():.0f}")


def before() -> None:
    """Loop over the numbers in Python."""
    from mt_tensor.core.simple import tensor_map

    run(tensor_map(steps))


def after() -> None:
    """Compile the function and the loop."""
    from mt_fast.core.parallel_loops import tensor_map

    run(tensor_map(steps))
