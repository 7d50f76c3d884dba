"""`exp` of four numbers: by the loop of the course, where there is one, and by the backend.

`fast` is set to divide even four elements among threads.
"""

import functools
import math
from typing import Any

X = [-2.0, -0.5, 0.0, 1.25]


def exp(x: float) -> float:
    return math.exp(x)


def simple() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_tensor.core.simple import tensor_map

    x, out = mt.tensor(X), mt.zeros(4)
    tensor_map(exp)(x._tensor, out._tensor)
    return [out, x.exp()], None


@functools.cache
def compiled() -> Any:
    from mt_fast.core.parallel_loops import tensor_map

    return tensor_map(exp)


def fast() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_fast.core.backend import FastOps

    backend = FastOps()
    backend.parallel_from = 1
    x, out = mt.tensor(X, backend=backend), mt.zeros(4, backend=backend)
    compiled()(x._tensor, out._tensor)
    return [out, x.exp()], None


def cuda() -> tuple[Any, Any]:
    import mt_tensor as mt

    out = mt.tensor(X).exp()
    return [out, out], None


def reference() -> tuple[Any, Any]:
    import numpy as np

    return [np.exp(X), np.exp(X)], None
