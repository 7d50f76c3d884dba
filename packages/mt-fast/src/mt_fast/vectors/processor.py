"""The width and number of the processor's vector registers.

Kernels are correct on every processor; this affects only their speed.
"""

from __future__ import annotations

import platform

from numba.core import config
from numba.core.codegen import get_host_cpu_features


def _registers() -> tuple[int, int]:
    """Return the number of bytes of a vector register, and the number of registers."""
    chosen = config.CPU_FEATURES  # type: ignore[attr-defined]
    features: str = get_host_cpu_features() if chosen is None else chosen  # type: ignore[no-untyped-call]
    present = features.split(",")
    if "+avx512f" in present:
        return 64, 32
    if "+avx" in present:
        return 32, 16
    return 16, 32 if platform.machine().lower() in ("aarch64", "arm64") else 16


VECTOR_BYTES, REGISTERS = _registers()
