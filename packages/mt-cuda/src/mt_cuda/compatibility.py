"""Names that Numba CUDA expects of NumPy, defined only while it compiles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from mt_cuda.core.compiler import AROUND

_OLD_NAME = "row_stack"


@contextmanager
def _old_numpy_names() -> Iterator[None]:
    """Define `numpy.row_stack`, which NumPy 2.5 removed and Numba CUDA still uses.

    Numba looks it up when it first compiles. The name exists only during that time.
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
