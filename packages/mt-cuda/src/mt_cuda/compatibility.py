"""What Numba CUDA still expects of NumPy: supplied while it compiles, and only then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from mt_cuda.core.compiler import AROUND

_OLD_NAME = "row_stack"


@contextmanager
def _old_numpy_names() -> Iterator[None]:
    """Supply `numpy.row_stack`, which NumPy 2.5 dropped and Numba CUDA still asks for.

    Numba asks when it first compiles. The name is there only meanwhile.
    """
    if hasattr(np, _OLD_NAME):
        yield
        return
    setattr(np, _OLD_NAME, np.vstack)
    try:
        yield
    finally:
        delattr(np, _OLD_NAME)


AROUND["compile"] = _old_numpy_names
