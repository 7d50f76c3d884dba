"""Check the environment variables of this project and of its libraries."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

from mt.doctor.findings import Finding, fault, note
from mt.doctor.processors import processors

OURS = {
    "MT_BACKEND": "the backend of a whole program",
    "MT_BROWSER": "the browser of tests of pages",
    "MT_CUDA_CACHE": "where mt-cuda stores compiled kernels",
    "MT_CUDA_SIM": "whether mt-cuda's kernels are simulated",
    "MT_FAST_CACHE": "where mt-fast stores compiled kernels",
    "MT_FORBID_SKIPS": "whether skipped tests fail",
    "MT_RANK_TIMEOUT": "how many seconds a rank may let others wait",
}
"""The environment variables of this project, and their meaning."""

THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that limit the number of threads of a library."""

EFFECTS = {
    "MT_CUDA_SIM": ("0", "kernels of mt-cuda run in the simulator, even if there is a GPU"),
    "MT_FORBID_SKIPS": ("0", "skipped tests fail"),
    "NUMBA_DISABLE_JIT": ("0", "loops run in Python"),
    "NUMBA_ENABLE_CUDASIM": ("0", "mt-cuda cannot compile for a GPU"),
    "NUMBA_BOUNDSCHECK": ("0", "loops are slower"),
    "NUMBA_CPU_NAME": ("", "loops are slower"),
    "NUMBA_DEBUG": ("0", "loops are slower"),
    "NUMBA_OPT": ("3", "loops are slower"),
}
"""Other variables, with the value that has no effect, and the effect of all other values."""

BREAKS = ("NUMBA_DISABLE_JIT", "NUMBA_ENABLE_CUDASIM")
"""The variables that break a backend."""


def check_settings() -> Iterator[Finding]:
    """Check every variable that is set."""
    count = processors()
    for name, value in os.environ.items():
        text, fix = f"{name}={value}", f"unset {name}"
        if not value:
            continue
        if name.startswith("MT_") and name not in OURS:
            near = difflib.get_close_matches(name, OURS, n=1)
            hint = f"; {near[0]} is a setting" if near else ""
            yield note("settings", f"nothing reads {name}{hint}", fix)
        elif name in THREADS and not (value.isdecimal() and int(value)):
            yield fault("threads", f"{text} is not a positive integer", fix)
        elif name in THREADS and int(value) != count:
            yield note("threads", f"{text}, but there are {count} processors", fix)
        elif name in EFFECTS and value != EFFECTS[name][0]:
            found = fault if name in BREAKS else note
            yield found("settings", f"{text}: {EFFECTS[name][1]}", fix)
