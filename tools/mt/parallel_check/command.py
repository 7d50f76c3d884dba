"""`mt parallel-check`: Numba's parallel diagnostics of the course's loops.

The level of detail is from 1 to 4.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache
from typing import Any

from mt_fast.core import parallel_loops as course
from mt_tensor.core.tensor_data import TensorData


@cache
def loops() -> dict[str, Any]:
    """Return each loop, by the name of the function that makes it, after running it once."""
    x = TensorData([1.0, 2.0, 3.0, 4.0], (1, 2, 2))
    out = TensorData([0.0] * 4, (1, 2, 2))
    row = TensorData([0.0] * 2, (1, 1, 2))
    mapped = course.tensor_map(lambda x: -x)
    zipped = course.tensor_zip(lambda x, y: x * y)
    folded = course.tensor_reduce(lambda x, y: x + y, 0.0)
    mapped(x, out)
    zipped(x, x, out)
    folded(x, row, 1)
    course.tensor_matrix_multiply(x, x, out)
    made: dict[str, Any] = {
        "tensor_map": mapped,
        "tensor_zip": zipped,
        "tensor_reduce": folded,
        "tensor_matrix_multiply": course.tensor_matrix_multiply,
    }
    return {name: function.loop for name, function in made.items()}


def main(arguments: Sequence[str]) -> int:
    """Print the reports."""
    parser = argparse.ArgumentParser(
        prog="mt parallel-check", description="Print Numba's report on each loop of the course."
    )
    parser.add_argument("level", nargs="?", type=int, default=3, choices=range(1, 5))
    level = parser.parse_args(arguments).level
    for name, loop in loops().items():
        print(f"\n{name}\n{'=' * len(name)}")
        loop.parallel_diagnostics(level=level)
    return 0
