"""Settings of torch that programs make and that change nothing here.

Sums are taken in the precision of their elements, and the same seed gives the same results.
"""

from __future__ import annotations

from mt_tensor.extending import check_flags


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results in every run, which there are anyway."""
    check_flags(mode=mode, warn_only=warn_only)
