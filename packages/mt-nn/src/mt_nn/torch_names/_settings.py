"""Settings of torch that have no effect here.

Sums have the precision of their elements, and a seed determines all results.
"""

from __future__ import annotations

from mt_tensor.extending import check_flags


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Check the arguments, and do nothing: all algorithms are deterministic."""
    check_flags(mode=mode, warn_only=warn_only)
