"""How many threads a training computes with, and how much memory it took: facts of the process."""

from __future__ import annotations

import os
import sys

from mt_nn.errors import packages_needed
from mt_nn.utils.settings import check

MOST_THREADS = 1024
"""More are no help on any machine, and from some number on libraries refuse them or crash."""


def use_threads(count: int | None) -> None:
    """Let NumPy's products and compiled loops use so many threads; as many as they like with None.

    Numba reads its setting when it is imported, which no backend but those that need it does.

    Raises:
        MissingPackageError: threadpoolctl is not installed.
        SettingError: the number is out of range.
    """
    if count is None:
        return
    check("--threads", count, 1 <= count <= MOST_THREADS, f"from 1 to {MOST_THREADS}")
    with packages_needed("--threads needs threadpoolctl: pip install 'mt-nn[train]'."):
        from threadpoolctl import threadpool_limits
    threadpool_limits(count)
    numba = sys.modules.get("numba")
    if numba is None:
        os.environ["NUMBA_NUM_THREADS"] = str(count)
    else:
        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))


def peak_memory() -> float | None:
    """Return the most memory that this process has had at a time, in bytes; None if unknown."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)
