"""A formula of eight operations over four million numbers, and its gradient.

NumPy reads and writes all the numbers once for each operation, and twice as often in backward.
Compiled from the same source, the formula is one loop forward and one backward, on all cores.
"""

import time
from typing import Any

SIZE = 4_000_000


def formula(x: Any, y: Any) -> Any:
    """Return the result for each pair of numbers."""
    return (x * y).tanh() + (x - y).sigmoid() * (x * x + 1.0)


def run(backend: str) -> None:
    """Run the formula and its gradient three times; the first run may compile."""
    import mt_tensor as mt

    fused = mt.fuse(formula)
    with mt.use_backend(backend):
        mt.manual_seed(0)
        x, y = (mt.randn(SIZE, requires_grad=True) for _ in "xy")
        seconds = 0.0
        for _ in range(3):
            x.grad = None
            start = time.perf_counter()
            total = fused(x, y).sum()
            total.backward()
            seconds = time.perf_counter() - start
        slope = 0.0 if x.grad is None else x.grad[0].item()
        print(f"{1000 * seconds:,.0f} ms; d/dx[0] = {slope:.5f}")


def before() -> None:
    """Compute with NumPy."""
    run("numpy")


def after() -> None:
    """Compute with compiled loops."""
    run("fast")
