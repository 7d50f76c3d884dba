"""How many threads a training computes with, and how much memory it took: facts of the process."""

from __future__ import annotations

import os
import sys

from mt_nn.errors import packages_needed


def use_threads(count: int | None) -> None:
    """Let NumPy's products and compiled loops use so many threads; as many as they like with None.

    Numba reads its setting when it is imported, which no backend but those that need it does.
    """
    if count is None:
        return
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
