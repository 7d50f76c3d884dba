"""The precision of float32 matrix products on hardware that can trade it for speed.

NVIDIA's tensor cores multiply float32 numbers as TF32, with 10 of their 23 mantissa bits, and
accumulate in float32. A backend for such hardware checks `are_products_exact`.
"""

from __future__ import annotations

from mt_tensor.checks import check_choice

_precision = "highest"


def set_float32_matmul_precision(precision: str) -> None:
    """Set the precision of float32 matrix products for all threads.

    Args:
        precision: "highest", the default, to multiply float32 exactly; "high" or "medium" to allow
            rounding factors to 10 mantissa bits first, a relative error of `2**-11`. Only the
            backend `cuda` uses this, for matrix products and linear layers.

    Raises:
        DomainError: `precision` has another value.
    """
    global _precision  # noqa: PLW0603 - a setting of the process
    check_choice(
        "set_float32_matmul_precision", "precision", precision, ["highest", "high", "medium"]
    )
    _precision = precision


def get_float32_matmul_precision() -> str:
    """Return the precision of float32 matrix products, "highest" by default."""
    return _precision


def are_products_exact() -> bool:
    """Return whether float32 factors must not be rounded."""
    return _precision == "highest"
