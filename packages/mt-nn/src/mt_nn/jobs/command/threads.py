"""The number of threads and the peak memory of the process."""

from __future__ import annotations

import os
import sys

from mt_nn.errors import packages_needed
from mt_nn.utils.settings import check

MOST_THREADS = 1024
"""With very many threads, libraries raise errors or crash."""


def use_threads(count: int | None) -> None:
    """Set the number of threads of NumPy's matrix products and compiled loops; None for no change.

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
    if numba is None:  # it reads the variable when it is imported
        os.environ["NUMBA_NUM_THREADS"] = str(count)
    else:
        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))


def peak_memory() -> float | None:
    """Return the peak memory of this process, in bytes; None if unknown."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)
