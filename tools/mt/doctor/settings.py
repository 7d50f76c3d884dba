"""Check the environment variables of this project and of its libraries."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

from mt.doctor.findings import Finding, fault, note
from mt.doctor.speed import processors

OURS = {
    "MT_BACKEND": "the backend of a whole program",
    "MT_CUDA_CACHE": "where mt-cuda stores compiled kernels",
    "MT_CUDA_SIM": "whether mt-cuda's kernels are simulated",
    "MT_FAST_CACHE": "where mt-fast stores compiled kernels",
    "MT_FORBID_SKIPS": "whether skipped tests fail",
    "MT_PROGRAMS": "how many random programs the conformance kit generates",
    "MT_RANK_TIMEOUT": "how many seconds a rank may let others wait",
}
"""The environment variables of this project, and their meaning."""

THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that limit the number of threads of a library."""

SLOW = {
    "NUMBA_OPT": "3",
    "NUMBA_BOUNDSCHECK": "0",
    "NUMBA_CPU_NAME": "",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_DEBUG": "0",
    "NUMBA_LOOP_VECTORIZE": "1",
    "NUMBA_SLP_VECTORIZE": "1",
}
"""Variables that can make Numba's code slower, with their default values."""


def check_settings() -> Iterator[Finding]:
    """Check every variable that is set."""
    given = {name: value for name, value in os.environ.items() if value != ""}
    yield from _ours(given)
    yield from _threads(given)
    if given.get("NUMBA_DISABLE_JIT", "0") != "0":
        text = "NUMBA_DISABLE_JIT is set: loops run in Python"
        yield fault("compiler", text, "unset NUMBA_DISABLE_JIT")
    for name, harmless in SLOW.items():
        if given.get(name, harmless) != harmless:
            text = f"{name}={given[name]} makes Numba compile slower loops, and all of them again"
            yield note("compiler", text, f"unset {name}")
    if given.get("NUMBA_ENABLE_CUDASIM", "0") != "0":
        text = "NUMBA_ENABLE_CUDASIM is set: mt-cuda cannot compile for a GPU"
        yield fault("simulator", text, "unset NUMBA_ENABLE_CUDASIM")
    if "PYTHONDONTWRITEBYTECODE" in given:
        text = "PYTHONDONTWRITEBYTECODE is set: changed files are compiled at every import"
        yield note("Python", text, "unset PYTHONDONTWRITEBYTECODE")
    if given.get("PYTHONOPTIMIZE", "0") != "0":
        text = "PYTHONOPTIMIZE is set: the assertions of tests are not checked"
        yield fault("Python", text, "unset PYTHONOPTIMIZE")


def _ours(given: dict[str, str]) -> Iterator[Finding]:
    """Check the variables of this project, except for those that other checks use."""
    for name, value in given.items():
        if name.startswith("MT_") and name not in OURS:
            near = difflib.get_close_matches(name, OURS, n=1)
            text = f"nothing reads {name}{f'; {near[0]} is a setting' if near else ''}"
            fix = f"export {near[0]}={value}; unset {name}" if near else f"unset {name}"
            yield note("settings", text, fix)
    simulated = given.get("MT_CUDA_SIM", "0")
    if simulated != "0":
        text = f"MT_CUDA_SIM={simulated}: kernels run in the simulator, even if there is a GPU"
        yield note("simulator", text, "unset MT_CUDA_SIM")
    if given.get("MT_FORBID_SKIPS", "0") != "0":
        text = "MT_FORBID_SKIPS is set: skipped tests fail"
        yield note("settings", text, "unset MT_FORBID_SKIPS")
    programs = given.get("MT_PROGRAMS", "1")
    if not _is_positive(programs):
        text = f"MT_PROGRAMS={programs} is not a positive integer"
        yield fault("settings", text, "unset MT_PROGRAMS")


def _threads(given: dict[str, str]) -> Iterator[Finding]:
    """Check the numbers of threads."""
    count = processors()
    for name in THREADS:
        text = given.get(name)
        if text is None:
            continue
        fix = f"unset {name}"
        if not _is_positive(text):
            yield fault("threads", f"{name}={text} is not a positive integer", fix)
        elif int(text) < count:
            yield note("threads", f"{name}={text} is fewer than the {count} processors", fix)
        elif int(text) > count:
            what = f"{name}={text} is more than the {count} processors: threads wait for each other"
            yield note("threads", what, fix)


def _is_positive(text: str) -> bool:
    return text.strip().isdecimal() and int(text) > 0
