"""What decides how fast it is here: processors, threads, the compiler, and its cache."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mt.doctor.findings import Finding, fault, fine, note

LIMITS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that say how many threads a library may use."""


LARGE = 2**30
"""Of how many bytes the compiled kernels may be before somebody should look at them."""


def check_processors() -> Iterator[Finding]:
    """Look at how many processors there are, and at what keeps libraries from using them."""
    count = processors()
    text = f"{count} of {os.cpu_count()} may be used"
    quota = _quota()
    if quota is not None and quota < count:
        cure = f"export NUMBA_NUM_THREADS={max(1, int(quota))}"
        yield note("processors", f"{text}, but a container allows the time of {quota:.1f}", cure)
    else:
        yield fine("processors", text)
    for name in LIMITS:
        given = os.environ.get(name, "")
        if given.isdigit() and int(given) < count:
            yield note("threads", f"{name}={given} allows fewer than processors", f"unset {name}")


def processors() -> int:
    """Return on how many processors this process may run."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _quota() -> float | None:
    """Return how many processors' time a container may use; None if it is not limited."""
    file = Path("/sys/fs/cgroup/cpu.max")
    try:
        most, period = file.read_text(encoding="ascii").split()
        return None if most == "max" else int(most) / int(period)
    except (OSError, ValueError):
        return None


def check_compiler() -> Iterator[Finding]:
    """Look at Numba: whether it compiles, for what, and with which threads."""
    try:
        import numba

        import mt_tensor as mt
        from mt_fast.processor import REGISTERS, VECTOR_BYTES
    except ImportError:
        return  # said of the stage
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        text = "NUMBA_DISABLE_JIT is set, and loops run in Python"
        yield fault("compiler", text, "unset NUMBA_DISABLE_JIT")
        return
    yield fine("vectors", f"{8 * VECTOR_BYTES} bits, {REGISTERS} registers")
    with mt.use_backend("fast"):
        (mt.ones(1 << 20) + 1.0).sum().item()  # so that threads have started
    layer = numba.threading_layer()  # type: ignore[attr-defined]
    text = f"{numba.get_num_threads()} of Numba's, layer {layer}"
    if layer == "workqueue":
        yield note("threads", f"{text}, the slowest to wake", "pip install tbb, or install OpenMP")
    else:
        yield fine("threads", text)


def check_cache() -> Iterator[Finding]:
    """Look at the folder of compiled kernels."""
    try:
        from mt_fast import cache_folder
    except ImportError:
        return  # said of the stage
    folder = cache_folder()
    if folder is None:
        yield note("cache", "MT_FAST_CACHE=off: every process compiles anew", "unset MT_FAST_CACHE")
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        cure = "export MT_FAST_CACHE=FOLDER, one that can be written to"
        yield fault("cache", f"{folder} cannot be written to ({error.strerror})", cure)
        return
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
    text = f"{folder}: {len(sizes):,} files, {sum(sizes) / 2**20:,.0f} MiB"
    if sum(sizes) > LARGE:
        yield note("cache", text, f"delete {folder}: what is still used is compiled again")
    else:
        yield fine("cache", text)
