"""Settings of torch that programs make and that change nothing here.

Sums are taken in the precision of their elements, and the same seed gives the same results.
"""

from __future__ import annotations

from mt_tensor.extending import check_choice, check_flags

_precision = "highest"


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results in every run, which there are anyway."""
    check_flags(mode=mode, warn_only=warn_only)


def set_float32_matmul_precision(precision: str) -> None:
    """Allow products of float32 to be less exact, which they never are.

    Raises:
        DomainError: it is none of "highest", "high" and "medium".
    """
    global _precision  # noqa: PLW0603 - a setting of the process
    check_choice("precision", precision, ["highest", "high", "medium"])
    _precision = precision


def get_float32_matmul_precision() -> str:
    """Return what was set last, "highest" at first."""
    return _precision
